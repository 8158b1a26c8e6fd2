import PlugModel
import ProtocolCore

/// A trigger on a plug that goes away, or comes back after that was seen. A flap shorter than the dwell begins it anew.
struct PresenceTrigger: Sendable {
    let rule: Int
    let place: Int
    let written: String
    let isLost: Bool
    let dwell: Duration
    /// The plug of that name that was there last.
    var plug: Int?
    /// Of a trigger on the return: the loss was seen.
    var wasLost = false
    /// When what it waits for has been so for long enough, and since when it is.
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

    /// Those whose dwell is over fire, in the order of the rules.
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
            // The wall's time, as far as it is known: in another boot of the controller its own begins anew.
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
