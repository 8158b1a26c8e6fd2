import PlugModel
import ProtocolCore
import RuleModel

/// The triggers on timers that scripts started.
struct TimerTriggers: Sendable {
    private var triggers: [ScriptTimer: [TriggerPlace]] = [:]

    mutating func add(_ place: TriggerPlace, _ timer: ScriptTimer) { triggers[timer, default: []].append(place) }

    /// Fires the rules of a timer. A timer that ended at most ``RuleEngine/longestLate`` ago counts as on time, like a
    /// wait. For any other timer the rule's maximum age decides.
    func ended(
        _ timer: ScriptTimer, startedBy call: RequestID, age: Duration, now: Instant, _ house: inout HouseState,
        _ executor: inout RuleExecutor, _ actions: inout [RuleEngineAction]
    ) {
        var last: Int?
        for trigger in triggers[timer] ?? [] where trigger.rule != last {
            last = trigger.rule
            var cause = Firing.Cause(executor.rules.source(of: trigger))
            if age >= .seconds(1) { cause.age = age }
            let seed = FiringSeed("timer", rule: executor.rules[trigger.rule].rule.name, after: call)
            let isInTime = age <= RuleEngine.longestLate
            executor.fire(
                trigger.rule, cause, seed.key(UInt64(trigger.place)), age: isInTime ? .zero : age, now: now, &house,
                &actions)
        }
    }
}
