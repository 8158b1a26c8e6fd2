import ProtocolCore

/// Watches one limit: the load may exceed it for a while, and trips the plug when it stays above.
struct OverPowerGuard {
    private enum State {
        case below
        case above(since: Instant)
        case tripped
    }

    private var state = State.below
    private let limit: OverPowerLimit?

    init(_ limit: OverPowerLimit?) { self.limit = limit }

    var isTripped: Bool {
        switch state {
        case .tripped: true
        case .below, .above: false
        }
    }

    /// True when this measurement trips the plug.
    mutating func measured(deciwatts: Int32, now: Instant) -> Bool {
        guard let limit, !isTripped else { return false }
        guard deciwatts > limit.deciwatts else {
            state = .below
            return false
        }
        let since: Instant
        if case .above(let before) = state { since = before } else { since = now }
        let trips = now - since >= limit.duration
        state = trips ? .tripped : .above(since: since)
        return trips
    }

    /// The meter is silent: time that nobody measured does not count against the load.
    mutating func interrupt() { if !isTripped { state = .below } }

    mutating func reset() { state = .below }
}
