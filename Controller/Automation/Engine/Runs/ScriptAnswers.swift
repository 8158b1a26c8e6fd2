import PlugModel
import ProtocolCore

extension RuleEngine {
    /// Runs the actions that a script's function requested, as if they were the rule's own. Their ids are derived from
    /// the call's id, so they differ from the ids of the rule's own actions.
    mutating func answered(_ call: ScriptCall, _ wanted: [RuleAction], _ actions: inout [Action]) {
        // If the rule was removed, the actions are dropped.
        guard let index = ruleIndexes[call.firing.rule] else { return }
        for (place, action) in wanted.enumerated() {
            switch action {
            case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore:
                for (position, plug) in action.plugs.enumerated() {
                    let key = call.id.key.part(action: place, plug: position)
                    // After a restart a run waits for its plugs. A call cannot wait, because only its answer names the
                    // plugs. The command for a plug that an earlier process knew is therefore stored for at most
                    // ``reunion``.
                    let reunion = awaited.contains(plug.lowercased()) ? Self.reunion : nil
                    command(
                        action, written: plug, key: key, origin: call.id.key,
                        away: states[index].rule.remembersAway ?? reunion, call.firing, &actions)
                }
            case .notify, .run, .webHook: effect(action, id: call.id.part(action: place), call.firing, &actions)
            case .wait, .waitUntil, .call: continue
            }
        }
    }
}
