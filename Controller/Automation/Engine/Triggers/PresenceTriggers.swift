import PlugModel
import ProtocolCore

/// A trigger on the loss of a plug, or on its return after an observed loss. A change of the connection before the end
/// of the dwell cancels it.
struct PresenceTrigger: Sendable {
    let rule: Int
    let place: Int
    let written: String
    let isLost: Bool
    let dwell: Duration
    /// The last plug of that name that was present, or nil.
    var plug: Int?
    /// For a trigger on the return: true if the loss was observed.
    var wasLost = false
    /// The end of the dwell and its start; nil while no dwell is in progress.
    var due: Instant?
    var since: Instant?

    init(rule: Int, place: Int, written: String, isLost: Bool, dwell: Duration) {
        self.rule = rule
        self.place = place
        self.written = written
        self.isLost = isLost
        self.dwell = dwell
    }

    mutating func take(_ other: PresenceTrigger) {
        (plug, wasLost, due, since) = (other.plug, other.wasLost, other.due, other.since)
    }

    mutating func begin(now: Instant) { (due, since) = (now + dwell, now) }
    mutating func cancel() { (due, since) = (nil, nil) }
}

extension RuleEngine {
    mutating func wentAway(_ index: Int, now: Instant) {
        for trigger in presence.indices where presence[trigger].plug == index {
            if presence[trigger].isLost {
                presence[trigger].begin(now: now)
            } else {
                presence[trigger].wasLost = true
                presence[trigger].cancel()
            }
        }
        findPresenceDeadline()
    }

    mutating func returned(_ index: Int, now: Instant) {
        for trigger in presence.indices where presence[trigger].plug == index {
            if presence[trigger].isLost {
                presence[trigger].cancel()
            } else if presence[trigger].wasLost, presence[trigger].due == nil {
                presence[trigger].begin(now: now)
            }
        }
        findPresenceDeadline()
    }

    /// Fires the triggers whose dwell is over, at most one per rule, in the order of the rules.
    mutating func endPresence(now: Instant, _ actions: inout [Action]) {
        guard let due = presenceDeadline, due <= now else { return }
        var last: Int?
        for place in presence.indices {
            let trigger = presence[place]
            guard let due = trigger.due, due <= now, let since = trigger.since, let plug = trigger.plug else {
                continue
            }
            presence[place].cancel()
            presence[place].wasLost = false
            guard trigger.rule != last else { continue }
            last = trigger.rule
            let rule = states[trigger.rule].rule
            let cause = Firing.Cause(states[trigger.rule].sources[trigger.place], plug: plugs[plug].name, since: since)
            // The number includes the wall clock, if known, because the controller's monotonic clock starts again at
            // each boot.
            let seed = FiringSeed(
                trigger.isLost ? "lost" : "back", rule: rule.name, trigger: trigger.place, plug: plugs[plug].lasting)
            let second = localTime?.second(at: since) ?? 0
            let number = UInt64(bitPattern: second &* 1_000_000_000 &+ since.nanoseconds)
            fire(trigger.rule, cause, seed.key(number), age: now - due, now: now, &actions)
        }
        findPresenceDeadline()
    }

    mutating func findPresenceDeadline() { presenceDeadline = presence.lazy.compactMap(\.due).min() }
}
