import PlugModel
import ProtocolCore

extension RuleEngine {
    /// The limits of rules that fire other rules within one event: the length of a chain, and the total. A firing
    /// beyond the length is held back, and a firing beyond the total is dropped, so that a loop ends within one call.
    static let maximumChain = 8
    static let maximumChained = 256

    /// Handles an edge: decides whether the rule fires, and starts its actions.
    ///
    /// - Parameters:
    ///   - age: the time since the edge; nil if unknown.
    ///   - depth: the number of rules before this one in a chain of rules that fire each other.
    mutating func fire(
        _ index: Int, _ cause: consuming Firing.Cause, _ key: UInt128, age: Duration?, depth: Int = 0, now: Instant,
        _ actions: inout [Action]
    ) {
        var firing = Firing(key: key, rule: states[index].rule.name, cause: cause, time: now)
        if let reason = reasonToHoldBack(index, age: age, depth: depth, now: now) {
            return actions.append(.heldBack(firing, reason))
        }
        if !states[index].rule.conditions.isEmpty {
            let conditions = states[index].rule.conditions
            firing.judged = conditions.map { holds($0, now: now) }
            if let broken = firing.judged.firstIndex(of: false) {
                return actions.append(.heldBack(firing, .condition(conditions[broken])))
            }
        }
        begin(firing, of: index, depth: depth, now: now, &actions)
    }

    /// Runs a rule's actions at the user's request, even if the rule is disabled, regardless of triggers, conditions,
    /// cooldown and rate limit. The rule's mode still applies.
    mutating func runByHand(_ name: String, id: RequestID, now: Instant, _ actions: inout [Action]) {
        guard let index = ruleIndexes[name] else { return }
        let firing = Firing(id: id, rule: name, cause: Firing.Cause(.person), time: now)
        begin(firing, of: index, depth: 0, now: now, &actions)
    }

    private func reasonToHoldBack(_ index: Int, age: Duration?, depth: Int, now: Instant) -> HoldBack? {
        guard let age, age <= states[index].rule.maximumAge else { return .old(age: age) }
        if states[index].isDisabled { return .disabled }
        let cooldown = states[index].rule.cooldown
        if cooldown > .zero, let last = states[index].lastFired, now < last + cooldown {
            return .cooldown(until: last + cooldown)
        }
        if let limit = states[index].limitReached(at: now) { return .limit(limit) }
        if depth >= Self.maximumChain { return .limit(FiringLimit(Self.maximumChain, within: .zero)) }
        return nil
    }

    /// Starts the actions. Holds the firing back if earlier runs prevent it by the rule's mode or by ``maximumRuns``.
    private mutating func begin(
        _ firing: Firing, of index: Int, depth: Int, now: Instant, _ actions: inout [Action]
    ) {
        var queues = false
        if states[index].hasWaits {
            let running = states[index].runs
            switch states[index].rule.mode {
            case .single: if running > 0 { return actions.append(.heldBack(firing, .running(running))) }
            case .restart: cancelRuns(of: index, .restarted, &actions)
            case .queued(let count):
                guard running <= min(count, Self.maximumRunsOfRule) else {
                    return actions.append(.heldBack(firing, .running(running)))
                }
                queues = running > 0
            case .parallel(let count):
                guard running < min(count, Self.maximumRunsOfRule) else {
                    return actions.append(.heldBack(firing, .running(running)))
                }
            }
            guard runs.count < Self.maximumRuns else {
                return actions.append(.heldBack(firing, .running(runs.count)))
            }
        }
        states[index].fired(at: now)
        actions.reserveCapacity(actions.count + 1 + states[index].rule.actions.count)
        actions.append(.fired(firing))
        if queues {
            add(Run(number: nextRun, rule: index, firing: firing, next: 0, wait: .turn))
        } else {
            perform(firing, of: index, from: 0, now: now, &actions)
        }
        if !states[index].listeners.isEmpty { chain(firing, of: index, depth: depth, now: now, &actions) }
    }

    private mutating func chain(
        _ firing: Firing, of index: Int, depth: Int, now: Instant, _ actions: inout [Action]
    ) {
        for listener in states[index].listeners {
            guard chained < Self.maximumChained else { return }
            chained += 1
            let rule = states[listener.rule].rule
            let cause = Firing.Cause(
                states[listener.rule].sources[listener.place], plug: firing.cause.plug, value: firing.cause.value)
            let key = FiringSeed("rule", rule: rule.name, after: firing.id).key(UInt64(depth))
            fire(listener.rule, cause, key, age: .zero, depth: depth + 1, now: now, &actions)
        }
    }
}
