import LinuxClocks
import ProtocolCore

extension Diagnosis {
    /// 2026-01-01T00:00:00Z. This program is not older.
    private static let earliest = WallTime(nanosecondsSince1970: 1_767_225_600_000_000_000)
    /// The limit of a step of the clock during the examination; a synchronized clock is slewed by less.
    private static let largestStep = Duration.milliseconds(500)

    static func ofClock(_ clock: Observations.Clock) -> [Finding] {
        let shown = "it says \(clock.last.wall.iso8601())"
        let remedy = "timedatectl set-ntp true, or install chrony"
        guard clock.last.wall >= earliest else {
            return [
                Finding(
                    .problem, .clock, shown, why: "that is before this program was made: nobody has set the clock",
                    next: remedy)
            ]
        }
        let step = clock.first.step(until: clock.last)
        guard abs(step.wholeNanoseconds) <= largestStep.wholeNanoseconds else {
            let sign = step < .zero ? "back" : "forward"
            let size = seconds(step < .zero ? .zero - step : step)
            return [
                Finding(
                    .warning, .clock, "\(shown), and was set \(sign) by \(size) just now",
                    why: "times printed before and after that do not go together", next: "run this again in a minute")
            ]
        }
        switch clock.last.isSynchronized {
        case true?: return [Finding(.ok, .clock, "\(shown), kept in step with others")]
        case nil: return [Finding(.ok, .clock, shown, why: "who keeps it in step cannot be seen from here")]
        case false?:
            return [
                Finding(
                    .warning, .clock, "\(shown), and nothing keeps it in step",
                    why: "it drifts: the times of events and rules with a time of day go wrong", next: remedy)
            ]
        }
    }
}
