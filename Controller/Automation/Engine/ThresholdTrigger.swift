import ProtocolCore

/// One trigger on active power: an edge detector with hysteresis and dwell.
///
/// Dwell is measured by the plug's reading times as far as readings have come, and continued on the controller's clock
/// from the arrival of the last one, since a plug that says nothing within its reporting interval has not changed. After
/// ``RuleEngine/readingGap`` of silence that no longer holds: the dwell is cancelled and the next reading beyond the
/// threshold begins it anew.
struct ThresholdTrigger: Sendable {
    enum State: Hashable, Sendable {
        /// No reading of this following of the plug yet: the next one only arms or disarms.
        case unknown
        /// The power has not been back past the hysteresis since it was last beyond the threshold.
        case disarmed
        case armed
        /// Beyond the threshold, waiting for the dwell to pass. `since` and `latest` are reading times on the plug's clock,
        /// `due` and `silent` instants on the controller's: when the dwell ends, when the last reading is too old for it.
        case dwelling(since: Instant, latest: Instant, value: Double, due: Instant, silent: Instant)
    }

    /// The trigger fired: `since` is when the threshold was crossed, on the plug's clock; `value` the last reading in watts.
    struct Edge: Hashable {
        var since: Instant
        var value: Double
    }

    let threshold: PowerThreshold
    private(set) var state = State.unknown

    init(_ threshold: PowerThreshold) { self.threshold = threshold }

    /// The sooner of the dwell's end and the end of what the last reading vouches for.
    var deadline: Instant? {
        guard case .dwelling(_, _, _, let due, let silent) = state else { return nil }
        return min(due, silent)
    }

    /// What came before is not to be compared with what comes next.
    mutating func forget() { state = .unknown }

    /// A reading that only says where the power is: it arms or disarms, and never fires.
    mutating func settle(_ activePower: Double) {
        state = threshold.isArmed(by: activePower) ? .armed : .disarmed
    }

    /// A reading of now, later than the one before.
    mutating func follow(_ activePower: Double, time: Instant, now: Instant) -> Edge? {
        switch state {
        case .unknown, .disarmed:
            settle(activePower)
            return nil
        case .armed:
            guard threshold.isCrossed(by: activePower) else { return nil }
            return dwell(since: time, value: activePower, time: time, now: now)
        case .dwelling(let since, let latest, _, _, _):
            guard threshold.isCrossed(by: activePower) else {
                state = .armed
                return nil
            }
            let unbroken = time - latest <= RuleEngine.readingGap
            return dwell(since: unbroken ? since : time, value: activePower, time: time, now: now)
        }
    }

    /// The controller's clock has reached ``deadline``.
    mutating func deadlineReached(now: Instant) -> Edge? {
        guard case .dwelling(let since, _, let value, let due, let silent) = state, min(due, silent) <= now else {
            return nil
        }
        guard due <= silent else {
            state = .armed
            return nil
        }
        state = .disarmed
        // A controller that slept through the end of a dwell does not act on it afterwards.
        return now - due <= RuleEngine.maximumAge ? Edge(since: since, value: value) : nil
    }

    private mutating func dwell(since: Instant, value: Double, time: Instant, now: Instant) -> Edge? {
        let remaining = threshold.dwell - (time - since)
        guard remaining > .zero else {
            state = .disarmed
            return Edge(since: since, value: value)
        }
        state = .dwelling(
            since: since, latest: time, value: value, due: now + remaining, silent: now + RuleEngine.readingGap)
        return nil
    }
}
