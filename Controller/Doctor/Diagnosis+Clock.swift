import LinuxSystem
import ProtocolCore

extension Diagnosis {
    /// 2026-01-01T00:00:00Z, which is before the release of this program.
    private static let earliest = WallTime(nanosecondsSince1970: 1_767_225_600_000_000_000)
    /// The limit of a step of the clock during the examination; a synchronized clock is slewed by less.
    private static let largestStep = Duration.milliseconds(500)

    static func ofClock(_ clock: Observations.Clock) -> [Finding] {
        let shown = "it shows \(clock.last.wall.iso8601())"
        let remedy = "timedatectl set-ntp true, or install chrony"
        guard clock.last.wall >= earliest else {
            return [
                Finding(
                    .problem, .clock, shown,
                    why: "this is before the release of this program, so the clock was never set",
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
                    why: "times printed before and after the change do not match", next: "run this again in a minute")
            ]
        }
        switch clock.last.isSynchronized {
        case true?: return [Finding(.ok, .clock, "\(shown) and is synchronized")]
        case nil: return [Finding(.ok, .clock, shown, why: "its synchronization cannot be determined")]
        case false?:
            return [
                Finding(
                    .warning, .clock, "\(shown) and is not synchronized",
                    why: "the clock drifts, so times of events and of rules with a time of day become wrong",
                    next: remedy)
            ]
        }
    }
}
