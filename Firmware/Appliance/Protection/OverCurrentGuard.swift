import ProtocolCore

/// What heats a contact is the square of the current. Above the rated current a budget runs down, the faster the higher the
/// current is; below, it recovers at the same measure, from nothing left to full in three times the time at twice the rated
/// current where none flows.
struct OverCurrentGuard: Sendable {
    /// How much of the square of the rated current twice of it is in excess.
    private static let excessAtTwice = 3.0

    private let limits: OverCurrentLimits?
    /// How much of the budget is used, 0 to 1.
    private var heat = 0.0
    private var last: Instant?

    init(_ limits: OverCurrentLimits?) { self.limits = limits }

    /// True when this measurement trips the plug.
    mutating func measured(milliamperes: UInt32, now: Instant) -> Bool {
        guard let limits else { return false }
        let ratio = Double(milliamperes) / Double(max(limits.ratedMilliamperes, 1))
        if let last {
            let budget = Self.excessAtTwice * max(limits.atTwiceRated, .milliseconds(1)).inSeconds
            heat += (ratio * ratio - 1) * (now - last).inSeconds / budget
            heat = min(max(heat, 0), 1)
        }
        last = now
        return milliamperes > limits.instantMilliamperes || ratio > 1 && heat >= 1
    }

    /// What nobody measured neither heats nor cools.
    mutating func interrupt() { last = nil }
}
