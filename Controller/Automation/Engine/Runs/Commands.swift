import PlugModel
import ProtocolCore

extension RuleEngine {
    /// Sends a command to each plug of an action, stores it for an absent plug, or reports why it is not sent.
    mutating func command(
        _ action: RuleAction, at place: Int, of rule: Int, _ firing: Firing, _ actions: inout [Action]
    ) {
        let written = action.plugs
        for position in written.indices {
            let key = firing.key.part(action: place, plug: position)
            if let index = states[rule].targets[place][position] {
                command(action, index, written[position], key: key, origin: firing.key, firing, &actions)
            } else {
                let span = states[rule].rule.remembersAway
                command(
                    action, written: written[position], key: key, origin: firing.key, away: span, firing, &actions)
            }
        }
    }

    /// Sends the command to a present plug.
    ///
    /// - Parameter origin: the id from which the command's id is derived: the firing's, or its script call's.
    private mutating func command(
        _ action: RuleAction, _ index: Int, _ written: String, key: UInt128, origin: UInt128, _ firing: Firing,
        _ actions: inout [Action]
    ) {
        guard let command = resolve(action, of: index, written, firing, &actions) else { return }
        let request = CommandRequest(key: key, plug: plugs[index].name, command: command)
        if needsBefores, !action.restores { remember(command, of: index, origin, firing) }
        plugs.expect(request, at: index)
        actions.append(.send(request, firing))
    }

    /// Sends the command, stores it if the plug is absent, or reports why it is not sent.
    ///
    /// - Parameter away: how long the command is stored for an absent plug; nil to report it as not sent.
    mutating func command(
        _ action: RuleAction, written: String, key: UInt128, origin: UInt128, away span: Duration?, _ firing: Firing,
        _ actions: inout [Action]
    ) {
        switch plugs.find(written) {
        case .plug(let index): command(action, index, written, key: key, origin: origin, firing, &actions)
        case .notPresent:
            guard let span, let command = resolveAway(action, written) else {
                return actions.append(.notSent(firing, plug: written, .notPresent))
            }
            let request = CommandRequest(key: key, plug: written, command: command)
            actions.append(.remember(request, firing, for: span))
        case .ambiguous(let names): actions.append(.notSent(firing, plug: written, .ambiguous(names)))
        }
    }

    /// Returns the command of the action for the plug in its present state. Returns nil, and reports the reason, if the
    /// action needs a dimmer or a stored state that the plug does not have.
    private mutating func resolve(
        _ action: RuleAction, of index: Int, _ written: String, _ firing: Firing, _ actions: inout [Action]
    ) -> PlugCommand? {
        switch action {
        case .turnOn(_, let autoOff): return .setRelay(on: true, autoOff: autoOff)
        case .turnOff: return .setRelay(on: false, autoOff: nil)
        case .toggle: return .setRelay(on: !plugs[index].expectedOn, autoOff: nil)
        case .dim(_, let level, let transition): return .setLevel(level, transition: transition)
        case .dimBy(_, let permille, let transition):
            guard let level = plugs[index].expectedLevel else {
                actions.append(.notSent(firing, plug: written, .noLevel))
                return nil
            }
            // A lamp that is off counts as level 0, although its stored level may be higher.
            let present = plugs[index].expectedOn ? Int(level.permille) : 0
            let sum = present.addingReportingOverflow(permille)
            let wanted = sum.overflow ? (permille < 0 ? 0 : 1000) : min(max(0, sum.partialValue), 1000)
            return DimLevel(permille: wanted).map { .setLevel($0, transition: transition) }
        case .restore:
            guard let before = savedStates.removeValue(forKey: plugs[index].lasting) else {
                actions.append(.step(firing, .nothingToRestore(plug: plugs[index].name)))
                return nil
            }
            return before.command(from: plugs[index].expectedLevel)
        case .wait, .waitUntil, .notify, .run, .webHook, .call: return nil
        }
    }

    /// Returns the command that the action means for an absent plug. Nil if the command depends on the plug's present
    /// state, or if a restore has no stored state.
    private mutating func resolveAway(_ action: RuleAction, _ written: String) -> PlugCommand? {
        switch action {
        case .turnOn(_, let autoOff): return .setRelay(on: true, autoOff: autoOff)
        case .turnOff: return .setRelay(on: false, autoOff: nil)
        case .dim(_, let level, let transition): return .setLevel(level, transition: transition)
        case .restore:
            guard let index = plugs.index(of: written) else { return nil }
            return savedStates.removeValue(forKey: plugs[index].lasting)?.command(from: plugs[index].level)
        case .toggle, .dimBy, .wait, .waitUntil, .notify, .run, .webHook, .call: return nil
        }
    }

    // MARK: Saved states

    /// Stores the plug's state before the first command of a firing that changes it.
    private mutating func remember(_ command: PlugCommand, of index: Int, _ origin: UInt128, _ firing: Firing) {
        let plug = plugs[index]
        let changes =
            switch command {
            case .setRelay(let on, _): on != plug.expectedOn
            case .setLevel(let level, _): level != plug.expectedLevel || (level.permille > 0) != plug.expectedOn
            case .identify, .resetProtection, .rename, .configure: false
            }
        guard changes, savedStates[plug.lasting]?.firing.key != origin else { return }
        savedStates[plug.lasting] = EngineMemory.Before(
            plug: plug.lasting, rule: firing.rule, firing: RequestID(origin), on: plug.expectedOn,
            level: plug.expectedLevel)
    }

    /// Handles a switched relay. If no rule switched it, the stored state is discarded and cannot be restored.
    mutating func relaySwitched(_ index: Int, cause: RelayCause) {
        let plug = plugs[index]
        guard let before = savedStates[plug.lasting] else { return }
        switch cause {
        case .controller(_, let request, _):
            // The id also identifies a command that an earlier process sent for the same firing.
            if plug.ours.contains(request.key) || request.key.isPart(of: before.firing.key) { return }
        case .button, .protection, .timer, .powerOn: break
        }
        savedStates[plug.lasting] = nil
    }
}

extension RuleAction {
    /// True for ``restore(_:)``. The state before a restore is not stored, so that the next restore does not undo it.
    fileprivate var restores: Bool { if case .restore = self { true } else { false } }
}

extension EngineMemory.Before {
    /// Returns the command that restores the state.
    ///
    /// - Parameter level: the present level.
    fileprivate func command(from level: DimLevel?) -> PlugCommand {
        // The level of a lamp that was off is not restored, because setting it would turn the lamp on.
        guard on, let wanted = self.level, wanted != level, wanted.permille > 0 else {
            return .setRelay(on: on, autoOff: nil)
        }
        return .setLevel(wanted, transition: .zero)
    }
}
