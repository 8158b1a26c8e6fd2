import PlugModel
import ProtocolCore
import RuleModel

/// Fires rules and runs their actions. Owns the rules, the unfinished firings and the saved states of plugs.
struct RuleExecutor: Sendable {
    typealias Action = RuleEngineAction

    private(set) var rules: RuleTable
    private(set) var runs = RunList()
    private var commands: CommandPlanner
    /// The lowercased names of the plugs that an earlier process knew, and that may not have appeared again.
    private var expectedPlugs: Set<String> = []
    /// The number of firings within this event that other rules caused.
    private var chained = 0

    init(_ rules: [Rule]) {
        self.rules = RuleTable(rules)
        commands = CommandPlanner(savesStates: self.rules.mayRestore)
    }

    /// Prepares for the next event.
    mutating func begin() { chained = 0 }

    // MARK: Rules

    /// Replaces the rules. A rule that is equal to a previous one keeps its runtime state; the runs of all other rules
    /// end.
    ///
    /// - Returns: the new indexes of the kept rules, by their previous index.
    mutating func replace(_ rules: [Rule], _ actions: inout [Action]) -> [Int: Int] {
        let kept = self.rules.replace(rules)
        commands.set(savesStates: self.rules.mayRestore)
        for firing in runs.replaceRules(kept) { actions.append(.step(firing, .cancelled(.ruleChanged))) }
        return kept
    }

    /// Enables or disables a rule at the user's request.
    mutating func enable(_ name: String, _ isOn: Bool, _ actions: inout [Action]) {
        guard let index = rules.enable(name, isOn), !isOn else { return }
        cancelRuns(of: index, .disabled, &actions)
    }

    /// Finds the plugs of the actions.
    mutating func bind(_ plugs: PlugTable) { rules.bind(plugs) }

    mutating func reportsMiss(_ rule: Int, at now: Instant) -> Bool { rules.reportsMiss(rule, at: now) }

    // MARK: Plugs

    mutating func plugAppeared() { runs.plugAppeared() }
    mutating func relaySwitched(_ plug: PlugTable.Plug, cause: RelayCause) {
        commands.relaySwitched(plug, cause: cause)
    }

    mutating func conditionsChanged() -> Bool { runs.conditionsChanged() }

    /// Sets the plugs that an earlier process knew. A script's command for such a plug is stored if the plug is absent.
    /// Names that differ only in capitals count as equal.
    mutating func expectPlugs(_ names: some Sequence<String>) { expectedPlugs = Set(names.map { $0.lowercased() }) }

    // MARK: Memory

    var savedStates: [EngineMemory.Before] { commands.savedStates }

    /// Restores the state of an earlier engine.
    ///
    /// - Returns: the ends of the runs that cannot continue.
    mutating func restore(_ memory: EngineMemory) -> [Action] {
        rules.restore(disabled: memory.disabled, fired: memory.fired)
        commands.restore(memory.savedStates)
        var ended: [Action] = []
        for run in memory.runs where !runs.restore(run, rules) {
            ended.append(.step(run.firing, .cancelled(.ruleChanged)))
        }
        return ended
    }

    // MARK: Firing

    /// Handles an edge: decides whether the rule fires, and starts its actions.
    ///
    /// - Parameters:
    ///   - age: the time since the edge; nil if unknown.
    ///   - depth: the number of rules before this one in a chain of rules that fire each other.
    mutating func fire(
        _ index: Int, _ cause: consuming Firing.Cause, _ key: UInt128, age: Duration?, depth: Int = 0, now: Instant,
        _ house: inout HouseState, _ actions: inout [Action]
    ) {
        var firing = Firing(key: key, rule: rules[index].rule.name, cause: cause, time: now)
        if let reason = reasonToHoldBack(index, age: age, depth: depth, now: now) {
            return actions.append(.heldBack(firing, reason))
        }
        if !rules[index].rule.conditions.isEmpty {
            let conditions = rules[index].rule.conditions
            firing.judged = conditions.map { house.holds($0, now: now) }
            if let broken = firing.judged.firstIndex(of: false) {
                return actions.append(.heldBack(firing, .condition(conditions[broken])))
            }
        }
        begin(firing, of: index, depth: depth, now: now, &house, &actions)
    }

    /// Runs a rule's actions at the user's request, even if the rule is disabled, regardless of triggers, conditions,
    /// cooldown and rate limit. The rule's mode still applies.
    mutating func runByHand(
        _ name: String, id: RequestID, now: Instant, _ house: inout HouseState, _ actions: inout [Action]
    ) {
        guard let index = rules.index(of: name) else { return }
        let firing = Firing(id: id, rule: name, cause: Firing.Cause(.person), time: now)
        begin(firing, of: index, depth: 0, now: now, &house, &actions)
    }

    private func reasonToHoldBack(_ index: Int, age: Duration?, depth: Int, now: Instant) -> HoldBack? {
        guard let age, age <= rules[index].rule.maximumAge else { return .old(age: age) }
        if rules[index].isDisabled { return .disabled }
        let cooldown = rules[index].rule.cooldown
        if cooldown > .zero, let last = rules[index].lastFired, now < last + cooldown {
            return .cooldown(until: last + cooldown)
        }
        if let limit = rules[index].limitReached(at: now) { return .limit(limit) }
        if depth >= RuleEngine.maximumChain { return .limit(FiringLimit(RuleEngine.maximumChain, within: .zero)) }
        return nil
    }

    /// Starts the actions. Holds the firing back if earlier runs prevent it by the rule's mode or by
    /// ``RuleEngine/maximumRuns``.
    private mutating func begin(
        _ firing: Firing, of index: Int, depth: Int, now: Instant, _ house: inout HouseState,
        _ actions: inout [Action]
    ) {
        var queues = false
        if rules[index].hasWaits {
            let running = runs.count(of: index)
            switch rules[index].rule.mode {
            case .single: if running > 0 { return actions.append(.heldBack(firing, .running(running))) }
            case .restart: cancelRuns(of: index, .restarted, &actions)
            case .queued(let count):
                guard running <= min(count, RuleEngine.maximumRunsOfRule) else {
                    return actions.append(.heldBack(firing, .running(running)))
                }
                queues = running > 0
            case .parallel(let count):
                guard running < min(count, RuleEngine.maximumRunsOfRule) else {
                    return actions.append(.heldBack(firing, .running(running)))
                }
            }
            guard runs.count < RuleEngine.maximumRuns else {
                return actions.append(.heldBack(firing, .running(runs.count)))
            }
        }
        rules.fired(index, at: now)
        actions.reserveCapacity(actions.count + 1 + rules[index].rule.actions.count)
        actions.append(.fired(firing))
        if queues {
            runs.add(firing, of: index, next: 0, wait: .turn)
        } else {
            perform(firing, of: index, from: 0, now: now, &house, &actions)
        }
        if !rules[index].listeners.isEmpty { chain(firing, of: index, depth: depth, now: now, &house, &actions) }
    }

    private mutating func chain(
        _ firing: Firing, of index: Int, depth: Int, now: Instant, _ house: inout HouseState,
        _ actions: inout [Action]
    ) {
        for listener in rules[index].listeners {
            guard chained < RuleEngine.maximumChained else { return }
            chained += 1
            let rule = rules[listener.rule].rule
            let cause = Firing.Cause(
                rules[listener.rule].sources[listener.place], plug: firing.cause.plug, value: firing.cause.value)
            let key = FiringSeed("rule", rule: rule.name, after: firing.id).key(UInt64(depth))
            fire(listener.rule, cause, key, age: .zero, depth: depth + 1, now: now, &house, &actions)
        }
    }

    // MARK: Actions

    /// Runs the actions, beginning with the action at `first`, up to the first action that waits. Only a firing that
    /// waited reports ``RunStep/finished``. Other firings are complete with the last action of the result.
    private mutating func perform(
        _ firing: Firing, of index: Int, from first: Int, hasWaited: Bool = false, now: Instant,
        _ house: inout HouseState, _ actions: inout [Action]
    ) {
        let count = rules[index].rule.actions.count
        for place in first..<max(first, count) {
            let action = rules[index].rule.actions[place]
            switch action {
            case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore:
                commands.command(action, at: place, of: rules[index], firing, &house.plugs, &actions)
            case .notify, .run, .webHook, .wake:
                effect(action, id: firing.id.part(action: place), firing, house, &actions)
            case .call(let handler):
                actions.append(.call(ScriptCall(id: firing.id.part(action: place), handler: handler, firing: firing)))
            case .wait(let duration):
                guard duration > .zero else { continue }
                actions.append(.step(firing, .waiting(until: now + duration)))
                return runs.add(firing, of: index, next: place, wait: .time(now + duration))
            case .waitUntil(let condition, let timeout, let end):
                if house.holds(condition, now: now) { continue }
                let until = now + timeout
                actions.append(.step(firing, .waitingFor(condition, until: until)))
                return runs.add(firing, of: index, next: place, wait: .condition(condition, until: until, end))
            }
        }
        if hasWaited { actions.append(.step(firing, .finished)) }
    }

    private func effect(
        _ action: RuleAction, id: RequestID, _ firing: Firing, _ house: HouseState, _ actions: inout [Action]
    ) {
        if let effect = EffectRequest(action, id: id, firing, house.localTime) { actions.append(.effect(effect)) }
    }

    /// Runs the actions that a script's function requested, as if they were the rule's own. Their ids are derived from
    /// the call's id, so they differ from the ids of the rule's own actions.
    mutating func answered(
        _ call: ScriptCall, _ wanted: [RuleAction], _ house: inout HouseState, _ actions: inout [Action]
    ) {
        // If the rule was removed, the actions are dropped.
        guard let index = rules.index(of: call.firing.rule) else { return }
        for (place, action) in wanted.enumerated() {
            switch action {
            case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore:
                for (position, plug) in action.plugs.enumerated() {
                    let key = call.id.key.part(action: place, plug: position)
                    // After a restart a run waits for its plugs. A call cannot wait, because only its answer names the
                    // plugs. The command for a plug that an earlier process knew is therefore stored for
                    // ``RuleEngine/reunion``, unless the rule states a different duration.
                    let reunion = expectedPlugs.contains(plug.lowercased()) ? RuleEngine.reunion : nil
                    commands.command(
                        action, written: plug, key: key, origin: call.id.key,
                        away: rules[index].rule.remembersAway ?? reunion, call.firing, &house.plugs, &actions)
                }
            case .notify, .run, .webHook, .wake:
                effect(action, id: call.id.part(action: place), call.firing, house, &actions)
            case .wait, .waitUntil, .call: continue
            }
        }
    }

    // MARK: Runs

    private mutating func cancelRuns(of index: Int, _ end: RunStep.RunEnd, _ actions: inout [Action]) {
        for firing in runs.removeAll(of: index) { actions.append(.step(firing, .cancelled(end))) }
    }

    /// Resumes the runs whose wait has ended, in the order of their start.
    mutating func wakeRuns(now: Instant, _ house: inout HouseState, _ actions: inout [Action]) {
        guard let numbers = runs.toCheck(now: now) else { return }
        for number in numbers {
            guard let place = runs.place(of: number) else { continue }
            wake(place, now: now, &house, &actions)
        }
        runs.checked(now: now)
    }

    private mutating func wake(_ place: Int, now: Instant, _ house: inout HouseState, _ actions: inout [Action]) {
        switch runs[place].wait {
        case .turn:
            // The earlier process may have exited after the previous run of the queue ended, or the plugs of this run
            // have appeared only now.
            guard runs[place].isRestored else { return }
            return startNext(runs[place].rule, now: now, &house, &actions)
        case .time(let until):
            guard until <= now else { return }
            if now - until > RuleEngine.longestLate {
                let run = runs.remove(at: place)
                actions.append(.step(run.firing, .cancelled(.missed)))
                return startNext(run.rule, now: now, &house, &actions)
            }
            if waitsForPlugs(place, now: now, house.plugs) { return }
        case .condition(let condition, let until, let end):
            if waitsForPlugs(place, now: now, house.plugs) { return }
            if !house.holds(condition, now: now) {
                guard until <= now else { return }
                actions.append(.step(runs[place].firing, .timedOut(end)))
                switch end {
                case .goOn: break
                case .stop: return startNext(runs.remove(at: place).rule, now: now, &house, &actions)
                }
            }
        }
        let run = runs.remove(at: place)
        perform(run.firing, of: run.rule, from: run.next + 1, hasWaited: true, now: now, &house, &actions)
        startNext(run.rule, now: now, &house, &actions)
    }

    /// Starts the queued runs of the rule in order, until a run waits. Does nothing while a run of the rule is in
    /// progress.
    private mutating func startNext(
        _ index: Int, now: Instant, _ house: inout HouseState, _ actions: inout [Action]
    ) {
        // Each pass removes a run from the queue, so the loop ends.
        while let place = runs.nextInQueue(of: index), !waitsForPlugs(place, now: now, house.plugs) {
            let run = runs.remove(at: place)
            perform(run.firing, of: index, from: 0, hasWaited: true, now: now, &house, &actions)
        }
    }

    /// Returns true if the run of an earlier process must wait for its plugs. This happens once per run, for at most
    /// ``RuleEngine/reunion``, before the run resumes or its condition is evaluated.
    private mutating func waitsForPlugs(_ place: Int, now: Instant, _ plugs: PlugTable) -> Bool {
        guard runs[place].isRestored else { return false }
        let run = runs[place]
        // If the wait has timed out and the run continues anyway, the plugs of its condition do not matter.
        var isOver = false
        if case .condition(_, let until, .goOn) = run.wait { isOver = until <= now }
        let coming = rules[run.rule].rule.actions.dropFirst(isOver ? run.next + 1 : run.next)
        let isMissing = coming.lazy.flatMap(\.askedPlugs).contains { plugs.find($0) == .notPresent }
        let until = run.plugsUntil ?? now + RuleEngine.reunion
        guard isMissing, now < until else {
            runs.release(place)
            return false
        }
        runs.holdForPlugs(place, until: until)
        return true
    }
}

extension RuleAction {
    /// The plugs that must be present for the action: those that it commands, or those of its condition.
    fileprivate var askedPlugs: [String] {
        switch self {
        case .waitUntil(let condition, _, _): condition.plugs
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .wait, .notify, .run, .webHook, .wake, .call: plugs
        }
    }
}
