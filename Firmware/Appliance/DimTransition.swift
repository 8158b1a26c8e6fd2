import PlugModel
import ProtocolCore

/// A dim level on its way to another, in a straight line.
struct DimTransition {
    /// Steps of 20 ms are finer than the eye follows, and few enough for a small processor.
    static let step = Duration.milliseconds(20)

    let from: DimLevel
    let to: DimLevel
    let start: Instant
    let duration: Duration
    /// Who asked for it, for the event of the relay that turns off at the end of the way to zero.
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

    /// The next step on the grid that began at the start; steps that were missed are not made up for.
    mutating func advance(past now: Instant) {
        let steps = (now - start).wholeNanoseconds / Self.step.wholeNanoseconds + 1
        nextStep = min(start + Self.step * steps, end)
    }
}
