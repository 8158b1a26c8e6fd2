import PlugModel
import ProtocolCore
import RuleModel

/// The unfinished firings, in the order of their start.
struct RunList: Sendable {
    private var runs: [Run] = []
    private var nextNumber = 0
    /// The number of runs by rule.
    private var counts: [Int: Int] = [:]
    /// The number of runs that wait for a condition.
    private(set) var waiting = 0
    /// The next time at which a run is checked. It may be too early.
    private(set) var deadline: Instant?
    /// True if `waiting` changed since the last ``conditionsChanged()``.
    private var hasChanged = false
    /// True if a plug appeared since the runs were checked.
    private var hasNewPlugs = false

    var isEmpty: Bool { runs.isEmpty }
    var count: Int { runs.count }

    subscript(place: Int) -> Run { _read { yield runs[place] } }

    /// Returns the number of a rule's runs, waiting or in its queue.
    func count(of rule: Int) -> Int { counts[rule] ?? 0 }

    func place(of number: Int) -> Int? { runs.firstIndex { $0.number == number } }

    /// Returns the place of the rule's first queued run; nil while a run of the rule waits at one of its actions, or if
    /// no run of the rule is queued.
    func nextInQueue(of rule: Int) -> Int? {
        guard !runs.contains(where: { $0.rule == rule && $0.wait != .turn }) else { return nil }
        return runs.firstIndex { $0.rule == rule }
    }

    // MARK: Changes

    mutating func add(_ firing: Firing, of rule: Int, next: Int, wait: Run.Wait, isRestored: Bool = false) {
        let run = Run(number: nextNumber, rule: rule, firing: firing, next: next, wait: wait, isRestored: isRestored)
        nextNumber += 1
        runs.append(run)
        counts[rule, default: 0] += 1
        if run.condition != nil { changeWaiting(by: 1) }
        deadline = sooner(deadline, run.deadline)
    }

    mutating func remove(at place: Int) -> Run {
        let run = runs.remove(at: place)
        counts[run.rule, default: 0] -= 1
        if run.condition != nil { changeWaiting(by: -1) }
        return run
    }

    /// Removes all runs of a rule. Returns their firings.
    mutating func removeAll(of rule: Int) -> [Firing] {
        var firings: [Firing] = []
        while let place = runs.firstIndex(where: { $0.rule == rule }) { firings.append(remove(at: place).firing) }
        findDeadline()
        return firings
    }

    /// Moves the runs to a new set of rules. Returns the firings whose rules do not remain.
    ///
    /// - Parameter kept: the new indexes of the rules that remain, by their previous index.
    mutating func replaceRules(_ kept: [Int: Int]) -> [Firing] {
        let removed = runs.filter { kept[$0.rule] == nil }.map(\.firing)
        runs = runs.compactMap { run in
            kept[run.rule].map { rule in
                var run = run
                run.move(to: rule)
                return run
            }
        }
        counts = [:]
        for run in runs { counts[run.rule, default: 0] += 1 }
        waiting = runs.count { $0.condition != nil }
        findDeadline()
        return removed
    }

    /// Holds a run of an earlier process until a time, or until its plugs have appeared.
    mutating func holdForPlugs(_ place: Int, until: Instant) { runs[place].holdForPlugs(until: until) }

    /// Lets a run of an earlier process continue like any other run.
    mutating func release(_ place: Int) { runs[place].release() }

    /// Records that a plug appeared, for which a run may wait.
    mutating func plugAppeared() { hasNewPlugs = true }

    // MARK: Conditions

    private mutating func changeWaiting(by change: Int) {
        waiting += change
        hasChanged = true
    }

    /// Returns true if the number of waiting runs changed since the last call. Their power conditions narrow the quiet
    /// bands, so the caller computes the bands again.
    mutating func conditionsChanged() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    /// Narrows the plug's quiet band to the readings that do not change the result of a power condition for which a run
    /// waits.
    func narrow(_ band: inout QuietBand, _ plug: Int, in house: HouseState) {
        guard waiting > 0 else { return }
        for run in runs {
            if let condition = run.condition { house.narrow(&band, plug, condition) }
        }
    }

    // MARK: Time

    /// Returns the numbers of the runs to check, in order; nil if no run can have changed. ``checked(now:)`` follows
    /// after the checks.
    mutating func toCheck(now: Instant) -> [Int]? {
        guard !runs.isEmpty else { return nil }
        let isDue = deadline.map { $0 <= now } ?? false
        guard isDue || waiting > 0 || hasNewPlugs else { return nil }
        hasNewPlugs = false
        return runs.map(\.number)
    }

    /// Finds the next deadline. A condition on the time is checked again after ``RuleEngine/conditionInterval``.
    mutating func checked(now: Instant) {
        findDeadline()
        let isTimed = waiting > 0 && runs.contains { $0.condition?.isTimed ?? false }
        if isTimed { deadline = sooner(deadline, now + RuleEngine.conditionInterval) }
    }

    private mutating func findDeadline() { deadline = runs.lazy.compactMap(\.deadline).min() }

    // MARK: Memory

    /// Returns the runs for the next process.
    func stored(_ rules: RuleTable) -> [EngineMemory.Run] {
        runs.map { run in
            let actions = rules[run.rule].rule.actionsFingerprint
            return EngineMemory.Run(firing: run.firing, actions: actions, next: run.next, until: run.until)
        }
    }

    /// Restores a run of an earlier process. Returns false if its rule is removed or has different actions, or if the
    /// list is full.
    mutating func restore(_ stored: EngineMemory.Run, _ rules: RuleTable) -> Bool {
        guard let rule = rules.index(of: stored.firing.rule), runs.count < RuleEngine.maximumRuns,
            rules[rule].rule.actionsFingerprint == stored.actions,
            let wait = stored.wait(in: rules[rule].rule.actions)
        else { return false }
        add(stored.firing, of: rule, next: stored.next, wait: wait, isRestored: true)
        return true
    }
}

extension EngineMemory.Run {
    /// Returns the wait at the stored place; nil if the actions have no such wait.
    fileprivate func wait(in actions: [RuleAction]) -> Run.Wait? {
        guard let until else { return next == 0 ? .turn : nil }
        guard actions.indices.contains(next) else { return nil }
        switch actions[next] {
        case .wait: return .time(until)
        case .waitUntil(let condition, _, let end): return .condition(condition, until: until, end)
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .notify, .run, .webHook, .wake, .call: return nil
        }
    }
}
