public import Automation
import LinuxClocks
public import PlugModel

/// Rules are replaced, turned off and run by hand while they run.
extension RuleRunner {
    /// The rules that run.
    public var rules: [Rule] { machine.rules }
    /// The plugs that a rule names: each name as it is written, the id of the plug that it means, where one is known, and the name that
    /// this plug has now. None of a rule that does not run.
    public func plugs(of rule: String) -> [NamedPlug] {
        Set(machine.rules.first { $0.name == rule }?.plugs ?? []).sorted().map { written in
            let id = machine.memory.names[written]
            let known = id.flatMap { id in machine.memory.plugs.last { $0.id == id } }
            return NamedPlug(written: written, id: id, name: known?.name)
        }
    }

    /// Those of them, and others of before, that a person turned off.
    public var disabled: Set<String> { machine.disabled }

    /// Runs these rules from now on. One that is equal to one of before keeps what it was in the midst of.
    public func replace(_ set: RuleFileSet) async {
        let before = faults
        await learnPaired()
        guard set.rules != machine.rules || set.scripts != scriptsRead || set.faults != before else { return }
        faults = set.faults
        let changed = set.scripts.filter { !scriptsRead.contains($0) }
        if set.rules != machine.rules {
            handle(.rulesChanged(set.rules))
        } else if !changed.isEmpty {
            // The functions are others, where all that they wait for is as it was.
            tell([.rulesChanged(changed.flatMap(\.rules).map(\.name))])
        }
        if set.scripts != scriptsRead {
            scriptsRead = set.scripts
            await run(set.scripts)
        }
        for plug in machine.plugs { warm(plug.name, plug.id) }
        let broken = faults.filter { !before.contains($0) }
        tell(broken.map { .fileBroken(path: $0.path, words: $0.words) })
        let paths = Set(faults.map(\.path))
        tell(before.filter { !paths.contains($0.path) }.map { .fileSound(path: $0.path) })
        // What rules of before did is told to somebody who still knows them.
        await handOver()
        await house.rulesChanged(machine.rules, disabled: machine.disabled, faults: faults)
    }

    /// Turns a rule off, or on again; it stays so over restarts.
    ///
    /// Returns once that is stored, where rules are stored at all.
    ///
    /// - Throws: ``UnknownRule``; ``UnstoredSwitch`` where it holds until the process ends; `CancellationError` where the run ends.
    public func enable(_ rule: String, _ isOn: Bool) async throws {
        try check(rule)
        try await withCheckedThrowingContinuation { continuation in
            asked.waitForSwitch(of: rule, isOn, continuation)
            handle(.ruleEnabled(rule, isOn))
        }
        await handOver()
    }

    /// Runs a rule's actions once, whatever its triggers and conditions say. Returns when they have begun, which is stored.
    ///
    /// - Returns: the id of the firing, with which the records tell what becomes of it.
    /// - Throws: ``UnknownRule``; ``HeldBackRun`` where they did not begin; `CancellationError` where the run ends.
    public func fire(_ rule: String) async throws -> RequestID {
        try check(rule)
        let id = RequestID(drawnFrom: &random)
        try await withCheckedThrowingContinuation { continuation in
            asked.waitForFiring(id, continuation)
            handle(.ruleRun(rule, id: id))
        }
        await handOver()
        return id
    }

    private func check(_ rule: String) throws {
        // Nothing is stored any more.
        if isStopping { throw CancellationError() }
        guard machine.rules.contains(where: { $0.name == rule }) else {
            throw UnknownRule(name: rule, known: machine.rules.map(\.name))
        }
    }

    // MARK: What was before

    /// What the appliance on the plug did before is known to the history: a washing machine that runs now is to finish.
    func warm(_ plug: String, _ id: PlugID) {
        let wanted = machine.rules.contains { rule in
            rule.triggers.contains { trigger in
                guard case .appliance(let name, _) = trigger else { return false }
                return machine.memory.names[name].map { $0 == id } ?? (name.foldedPlugName == plug.foldedPlugName)
            }
        }
        guard wanted, warmed.insert(id).inserted else { return }
        Task {
            let past = await house.past(of: id)
            guard !past.isEmpty, !isStopping else { return }
            handle(.recorded(plug: plug, past))
            await handOverMeanwhile()
        }
    }
}
