import PlugModel
import ProtocolCore

extension RuleEngine {
    /// Runs the actions that a script's function requested, as if they were the rule's own. Their ids are derived from
    /// the call's id, so they differ from the ids of the rule's own actions.
    mutating func answered(_ call: ScriptCall, _ wanted: [RuleAction], _ actions: inout [Action]) {
        // The rule was removed, so its actions are dropped.
        guard let index = ruleIndexes[call.firing.rule] else { return }
        for (place, action) in wanted.enumerated() {
            switch action {
            case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore:
                for (position, plug) in action.plugs.enumerated() {
                    let key = call.id.key.part(action: place, plug: position)
                    // The rule's runs wait for their plugs after a restart. A call cannot, because its plugs were not
                    // known before, so the command waits.
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
