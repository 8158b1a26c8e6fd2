import PlugModel
import ProtocolCore

extension RuleEngine {
    /// An action on plugs becomes a command for each of them, or what is told instead.
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

    /// - Parameter origin: whose part the command is: the firing, or a call of it.
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

    /// - Parameter away: so long it waits for the plug where that is away.
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

    /// What the action means for the plug as it is now; nil where it was told that it means nothing.
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
            // A lamp that is off is dark, whatever level it keeps for later.
            let present = plugs[index].expectedOn ? Int(level.permille) : 0
            let sum = present.addingReportingOverflow(permille)
            let wanted = sum.overflow ? (permille < 0 ? 0 : 1000) : min(max(0, sum.partialValue), 1000)
            return DimLevel(permille: wanted).map { .setLevel($0, transition: transition) }
        case .restore:
            guard let before = befores.removeValue(forKey: plugs[index].lasting) else {
                actions.append(.step(firing, .nothingToRestore(plug: plugs[index].name)))
                return nil
            }
            return before.command(from: plugs[index].expectedLevel)
        case .wait, .waitUntil, .notify, .run, .webHook, .call: return nil
        }
    }

    /// What the action means for a plug that is away; nil where that depends on what the plug is then.
    private mutating func resolveAway(_ action: RuleAction, _ written: String) -> PlugCommand? {
        switch action {
        case .turnOn(_, let autoOff): return .setRelay(on: true, autoOff: autoOff)
        case .turnOff: return .setRelay(on: false, autoOff: nil)
        case .dim(_, let level, let transition): return .setLevel(level, transition: transition)
        case .restore:
            guard let index = plugs.index(of: written) else { return nil }
            return befores.removeValue(forKey: plugs[index].lasting)?.command(from: plugs[index].level)
        case .toggle, .dimBy, .wait, .waitUntil, .notify, .run, .webHook, .call: return nil
        }
    }

    // MARK: As it was before

    /// Keeps what the plug was before the first command of a firing that changes it.
    private mutating func remember(_ command: PlugCommand, of index: Int, _ origin: UInt128, _ firing: Firing) {
        let plug = plugs[index]
        let changes =
            switch command {
            case .setRelay(let on, _): on != plug.expectedOn
            case .setLevel(let level, _): level != plug.expectedLevel || (level.permille > 0) != plug.expectedOn
            case .identify, .resetProtection, .rename, .configure: false
            }
        guard changes, befores[plug.lasting]?.firing.key != origin else { return }
        befores[plug.lasting] = EngineMemory.Before(
            plug: plug.lasting, rule: firing.rule, firing: RequestID(origin), on: plug.expectedOn,
            level: plug.expectedLevel)
    }

    /// The relay was switched: where no rule did it, what was before is not to come back.
    mutating func relaySwitched(_ index: Int, cause: RelayCause) {
        let plug = plugs[index]
        guard let before = befores[plug.lasting] else { return }
        switch cause {
        case .controller(_, let request, _):
            // An earlier process may have sent it, which is known by its id.
            if plug.ours.contains(request.key) || request.key.isPart(of: before.firing.key) { return }
        case .button, .protection, .timer, .powerOn: break
        }
        befores[plug.lasting] = nil
    }
}

extension RuleAction {
    /// What it undoes is not to be brought back by the next one.
    fileprivate var restores: Bool { if case .restore = self { true } else { false } }
}

extension EngineMemory.Before {
    /// - Parameter level: what it is now.
    fileprivate func command(from level: DimLevel?) -> PlugCommand {
        // The level of a lamp that was off is left: setting it would light the lamp.
        guard on, let wanted = self.level, wanted != level, wanted.permille > 0 else {
            return .setRelay(on: on, autoOff: nil)
        }
        return .setLevel(wanted, transition: .zero)
    }
}
