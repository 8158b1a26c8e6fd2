import PlugProtocol
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
                    command(action, written: plug, key: key, origin: call.id.key, of: index, call.firing, &actions)
                }
            case .notify, .run, .webHook: effect(action, id: call.id.part(action: place), call.firing, &actions)
            case .wait, .waitUntil, .call: continue
            }
        }
    }
}
