import LinuxSystem
public import PlugModel
public import RuleModel

/// Replaces, disables and manually runs rules.
extension RuleRunner {
    /// The active rules.
    public var rules: [Rule] { machine.rules }
    /// Returns the plugs that a rule mentions: each written name, with the id of the plug that it refers to and the
    /// plug's current name if they are known. Empty if the rule is not active.
    public func plugs(of rule: String) -> [NamedPlug] {
        Set(machine.rules.first { $0.name == rule }?.plugs ?? []).sorted().map { written in
            let id = machine.memory.names[written]
            let known = id.flatMap { id in machine.memory.plugs.last { $0.id == id } }
            return NamedPlug(written: written, id: id, name: known?.name)
        }
    }

    /// The names of the rules that the user turned off. They may include rules that are no longer active.
    public var disabled: Set<String> { machine.disabled }

    /// Replaces the active rules. Unchanged rules keep their runtime state.
    public func replace(_ set: RuleFileSet) async {
        let before = faults
        await learnPaired()
        guard set.rules != machine.rules || set.scripts != scriptsRead || set.faults != before else { return }
        faults = set.faults
        let changed = set.scripts.filter { !scriptsRead.contains($0) }
        if set.rules != machine.rules {
            handle(.rulesChanged(set.rules))
        } else if !changed.isEmpty {
            // The source of some scripts changed, but their rules did not.
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
        // The records of the previous rules are delivered first, while the observers still know these rules.
        await handOver()
        await house.rulesChanged(machine.rules, disabled: machine.disabled, faults: faults)
        await house.settle()
    }

    /// Turns a rule on or off. The setting is kept across restarts.
    ///
    /// Returns when the setting is stored, or at once without a store.
    ///
    /// - Throws: ``RuleRequestError``, also if the setting applies only until the process ends; `CancellationError` if
    ///   the run ends.
    public func enable(_ rule: String, _ isOn: Bool) async throws {
        try check(rule)
        try await withCheckedThrowingContinuation { continuation in
            asked.waitForSwitch(of: rule, isOn, continuation)
            handle(.ruleEnabled(rule, isOn))
        }
        await handOver()
        await house.settle()
    }

    /// Runs a rule's actions once, regardless of its triggers and conditions. Returns when the actions have begun and
    /// this is stored.
    ///
    /// - Returns: The id of the firing, which identifies it in the records.
    /// - Throws: ``RuleRequestError``, also if the actions did not begin; `CancellationError` if the run ends.
    public func fire(_ rule: String) async throws -> RequestID {
        try check(rule)
        let id = RequestID(drawnFrom: &random)
        try await withCheckedThrowingContinuation { continuation in
            asked.waitForFiring(id, continuation)
            handle(.ruleRun(rule, id: id))
        }
        await handOver()
        await house.settle()
        return id
    }

    private func check(_ rule: String) throws {
        // After the stop has begun, changes are no longer stored.
        if isStopping { throw CancellationError() }
        guard machine.rules.contains(where: { $0.name == rule }) else {
            throw RuleRequestError.unknown(rule: rule, known: machine.rules.map(\.name))
        }
    }

    // MARK: Appliance history

    /// Passes the recent power of a plug from the history to the rules, if a rule watches the appliance on this plug.
    /// The rules then recognize an appliance that was already running when the daemon started.
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
            await deliverIfIdle()
        }
    }
}
