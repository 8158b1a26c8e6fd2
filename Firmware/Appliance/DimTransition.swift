import PlugModel
import ProtocolCore

/// A linear transition between two dim levels.
struct DimTransition {
    /// The time between two steps. Steps of 20 ms are finer than the eye can follow and rare enough for a small
    /// processor.
    static let step = Duration.milliseconds(20)

    let from: DimLevel
    let to: DimLevel
    let start: Instant
    let duration: Duration
    /// The cause of the transition. If the transition ends at level zero, the event of the relay has the same cause.
    let cause: RelayCause
    var nextStep: Instant

    init(from: DimLevel, to: DimLevel, start: Instant, duration: Duration, cause: RelayCause) {
        self.from = from
        self.to = to
        self.start = start
        self.duration = duration
        self.cause = cause
        nextStep = min(start + Self.step, start + duration)
    }

    var end: Instant { start + duration }

    func level(at now: Instant) -> DimLevel {
        guard now < end else { return to }
        let done = (now - start).inSeconds / duration.inSeconds
        let permille = Double(from.permille) + (Double(to.permille) - Double(from.permille)) * done
        return DimLevel(permille: Int(permille.rounded())) ?? to
    }

    /// Schedules the next step, at a multiple of ``step`` after the start. Missed steps are skipped.
    mutating func advance(past now: Instant) {
        let steps = (now - start).wholeNanoseconds / Self.step.wholeNanoseconds + 1
        nextStep = min(start + Self.step * steps, end)
    }
}
