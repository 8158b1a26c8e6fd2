import PlugModel
import ProtocolCore
import RuleModel

/// Turns actions into commands, and stores the states that commands change.
struct CommandPlanner: Sendable {
    private var saved = SavedStates()
    /// True if commands store the states that they change.
    private var savesStates: Bool

    init(savesStates: Bool) { self.savesStates = savesStates }

    /// The stored states, ordered by plug.
    var savedStates: [EngineMemory.Before] { saved.stored }

    mutating func restore(_ stored: [EngineMemory.Before]) { saved.restore(stored) }

    mutating func set(savesStates: Bool) { self.savesStates = savesStates }

    /// Handles a switched relay.
    mutating func relaySwitched(_ plug: PlugTable.Plug, cause: RelayCause) { saved.relaySwitched(plug, cause: cause) }

    /// Sends a command to each plug of an action, stores it for an absent plug, or reports why it is not sent.
    mutating func command(
        _ action: RuleAction, at place: Int, of rule: RuleState, _ firing: Firing, _ plugs: inout PlugTable,
        _ actions: inout [RuleEngineAction]
    ) {
        let written = action.plugs
        for position in written.indices {
            let key = firing.key.part(action: place, plug: position)
            if let index = rule.targets[place][position] {
                command(action, index, written[position], key: key, origin: firing.key, firing, &plugs, &actions)
            } else {
                command(
                    action, written: written[position], key: key, origin: firing.key, away: rule.rule.remembersAway,
                    firing, &plugs, &actions)
            }
        }
    }

    /// Sends the command to a present plug.
    ///
    /// - Parameter origin: the id from which the command's id is derived: the firing's, or its script call's.
    private mutating func command(
        _ action: RuleAction, _ index: Int, _ written: String, key: UInt128, origin: UInt128, _ firing: Firing,
        _ plugs: inout PlugTable, _ actions: inout [RuleEngineAction]
    ) {
        guard let command = resolve(action, of: plugs[index], written, firing, &actions) else { return }
        let request = CommandRequest(key: key, plug: plugs[index].name, command: command)
        if savesStates, !action.restores {
            saved.save(plugs[index], before: command, origin: origin, rule: firing.rule)
        }
        plugs.expect(request, at: index)
        actions.append(.send(request, firing))
    }

    /// Sends the command, stores it if the plug is absent, or reports why it is not sent.
    ///
    /// - Parameter away: how long the command is stored for an absent plug; nil to report it as not sent.
    mutating func command(
        _ action: RuleAction, written: String, key: UInt128, origin: UInt128, away span: Duration?, _ firing: Firing,
        _ plugs: inout PlugTable, _ actions: inout [RuleEngineAction]
    ) {
        switch plugs.find(written) {
        case .plug(let index): command(action, index, written, key: key, origin: origin, firing, &plugs, &actions)
        case .notPresent:
            guard let span, let command = resolveAway(action, written, plugs) else {
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
        _ action: RuleAction, of plug: PlugTable.Plug, _ written: String, _ firing: Firing,
        _ actions: inout [RuleEngineAction]
    ) -> PlugCommand? {
        switch action {
        case .turnOn(_, let autoOff): return .setRelay(on: true, autoOff: autoOff)
        case .turnOff: return .setRelay(on: false, autoOff: nil)
        case .toggle: return .setRelay(on: !plug.expectedOn, autoOff: nil)
        case .dim(_, let level, let transition): return .setLevel(level, transition: transition)
        case .dimBy(_, let permille, let transition):
            guard let level = plug.expectedLevel else {
                actions.append(.notSent(firing, plug: written, .noLevel))
                return nil
            }
            // A lamp that is off counts as level 0, although its stored level may be higher.
            let present = plug.expectedOn ? Int(level.permille) : 0
            let sum = present.addingReportingOverflow(permille)
            let wanted = sum.overflow ? (permille < 0 ? 0 : 1000) : min(max(0, sum.partialValue), 1000)
            return DimLevel(permille: wanted).map { .setLevel($0, transition: transition) }
        case .restore:
            guard let command = saved.remove(plug, from: plug.expectedLevel) else {
                actions.append(.step(firing, .nothingToRestore(plug: plug.name)))
                return nil
            }
            return command
        case .wait, .waitUntil, .notify, .run, .webHook, .wake, .call: return nil
        }
    }

    /// Returns the command that the action means for an absent plug. Nil if the command depends on the plug's present
    /// state, or if a restore has no stored state.
    private mutating func resolveAway(_ action: RuleAction, _ written: String, _ plugs: PlugTable) -> PlugCommand? {
        switch action {
        case .turnOn(_, let autoOff): return .setRelay(on: true, autoOff: autoOff)
        case .turnOff: return .setRelay(on: false, autoOff: nil)
        case .dim(_, let level, let transition): return .setLevel(level, transition: transition)
        case .restore:
            guard let index = plugs.index(of: written) else { return nil }
            return saved.remove(plugs[index], from: plugs[index].level)
        case .toggle, .dimBy, .wait, .waitUntil, .notify, .run, .webHook, .wake, .call: return nil
        }
    }
}

extension RuleAction {
    /// True for ``restore(_:)``. The state before a restore is not stored, so that the next restore does not undo it.
    fileprivate var restores: Bool { if case .restore = self { true } else { false } }
}
