import PlugModel
import ProtocolCore

extension RuleEngine {
    /// Does what a script's function asked for, as if its rule had these actions. Their ids follow from the call's, so that they
    /// differ from those of the rule's own.
    mutating func answered(_ call: ScriptCall, _ wanted: [RuleAction], _ actions: inout [Action]) {
        // Of a rule that is no more nothing is done.
        guard let index = ruleIndexes[call.firing.rule] else { return }
        for (place, action) in wanted.enumerated() {
            switch action {
            case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore:
                for (position, plug) in action.plugs.enumerated() {
                    let key = call.id.key.part(action: place, plug: position)
                    // Its rule cannot wait for plugs that it does not know, as others do after a restart.
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
