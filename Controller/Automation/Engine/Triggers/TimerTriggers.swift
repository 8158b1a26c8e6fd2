import PlugModel
import ProtocolCore

/// A trigger on a timer that a script started.
struct TimerTrigger: Sendable {
    let rule: Int
    let place: Int
}

extension RuleEngine {
    /// Fires the rules of a timer. A timer that ended at most ``longestLate`` ago counts as on time, like a wait. For
    /// any other timer the rule's maximum age decides.
    mutating func ended(
        _ timer: ScriptTimer, startedBy call: RequestID, age: Duration, now: Instant, _ actions: inout [Action]
    ) {
        var last: Int?
        for trigger in timers[timer] ?? [] where trigger.rule != last {
            last = trigger.rule
            var cause = Firing.Cause(states[trigger.rule].sources[trigger.place])
            if age >= .seconds(1) { cause.age = age }
            let seed = FiringSeed("timer", rule: states[trigger.rule].rule.name, after: call)
            let isInTime = age <= Self.longestLate
            fire(
                trigger.rule, cause, seed.key(UInt64(trigger.place)), age: isInTime ? .zero : age, now: now, &actions)
        }
    }
}
