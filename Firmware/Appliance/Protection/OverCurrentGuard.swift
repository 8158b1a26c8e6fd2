import ProtocolCore

/// Models the heat of the contacts, which grows with the square of the current. Above the rated current a budget is
/// used up, faster at a higher current. Below, it recovers by the same law: without current, an empty budget is full
/// again after three times the time allowed at twice the rated current.
struct OverCurrentGuard: Sendable {
    /// The excess at twice the rated current, in units of the squared rated current: 2² - 1.
    private static let excessAtTwice = 3.0

    private let limits: OverCurrentLimits?
    /// The used part of the budget, 0 to 1.
    private var heat = 0.0
    private var last: Instant?

    init(_ limits: OverCurrentLimits?) { self.limits = limits }

    /// Returns true if this measurement trips the plug.
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

    /// Skips a time without measurements: the used part of the budget stays the same.
    mutating func interrupt() { last = nil }
}
