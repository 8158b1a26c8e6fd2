import PlugModel
import ProtocolCore

/// The states of plugs before a rule changed them. Rules can restore these states.
struct SavedStates: Sendable {
    /// The states, keyed by the plug's permanent name.
    private var states: [String: EngineMemory.Before] = [:]

    /// The states, ordered by plug.
    var stored: [EngineMemory.Before] { states.values.sorted { $0.plug < $1.plug } }

    mutating func restore(_ stored: [EngineMemory.Before]) { for state in stored { states[state.plug] = state } }

    /// Stores the plug's state before a firing's first command that changes the plug.
    ///
    /// - Parameter origin: the id from which the command's id is derived: the firing's, or its script call's.
    mutating func save(_ plug: PlugTable.Plug, before command: PlugCommand, origin: UInt128, rule: String) {
        let changes =
            switch command {
            case .setRelay(let on, _): on != plug.expectedOn
            case .setLevel(let level, _): level != plug.expectedLevel || (level.permille > 0) != plug.expectedOn
            case .identify, .resetProtection, .rename, .configure: false
            }
        guard changes, states[plug.lasting]?.firing.key != origin else { return }
        states[plug.lasting] = EngineMemory.Before(
            plug: plug.lasting, rule: rule, firing: RequestID(origin), on: plug.expectedOn,
            level: plug.expectedLevel)
    }

    /// Removes the plug's state, and returns the command that restores it; nil if no state is stored.
    ///
    /// - Parameter level: the present level.
    mutating func remove(_ plug: PlugTable.Plug, from level: DimLevel?) -> PlugCommand? {
        states.removeValue(forKey: plug.lasting)?.command(from: level)
    }

    /// Handles a switched relay. If no rule switched it, the stored state is discarded and cannot be restored.
    mutating func relaySwitched(_ plug: PlugTable.Plug, cause: RelayCause) {
        guard let before = states[plug.lasting] else { return }
        switch cause {
        case .controller(_, let request, _):
            // The id also identifies a command that an earlier process sent for the same firing.
            if plug.isOurs(request.key) || request.key.isPart(of: before.firing.key) { return }
        case .button, .protection, .timer, .powerOn: break
        }
        states[plug.lasting] = nil
    }
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
