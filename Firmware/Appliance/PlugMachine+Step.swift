import PlugModel
import PlugProtocol

extension PlugMachine {
    /// What one event asks for, sorted by what has to come first.
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
            // Nobody hears of a pairing whose entry a loss of power could take.
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
    /// What a part is to do.
    var movesPart: PlugMachine.Action? {
        switch self {
        case .setRelay(let on): .setRelay(on)
        case .setDimmer(let level): .setDimmer(level)
        case .setLight(let lit): .setLight(lit)
        case .readMeter: .readMeter
        case .record, .stateChanged, .commandDone, .sample, .persist, .openPairing, .factoryReset: nil
        }
    }
}
