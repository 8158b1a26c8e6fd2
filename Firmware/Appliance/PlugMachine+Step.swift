import PlugModel
import PlugProtocol

extension PlugMachine {
    /// The actions of one event, grouped by the order in which they must be performed.
    struct Step {
        var parts: [Action] = []
        var records: [MirrorRecord] = []
        var controllers: PairedControllers?
        var sends: [Action] = []
        var flash: [Action] = []
        var audit: AuditLog.Write?
        var asksForReset: AuditActor?

        var actions: [Action] {
            var actions = parts
            if !records.isEmpty { actions.append(.mirror(records)) }
            // The audit entry precedes the controllers, so that a loss of power cannot remove the entry of a reported
            // pairing.
            if let audit { actions.append(.keepAudit(audit)) }
            if let controllers { actions.append(.keep(controllers)) }
            actions += sends
            actions += flash
            if let asksForReset { actions.append(.factoryReset(by: asksForReset)) }
            return actions
        }
    }
}

extension ApplianceMachine.Action {
    /// The action for a part, or nil.
    var forPart: PlugMachine.Action? { if case .part(let action) = self { .part(action) } else { nil } }
}
