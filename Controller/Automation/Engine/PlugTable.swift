import PlugProtocol
import ProtocolCore

/// What the engine knows of the plugs, by announced name.
struct PlugTable: Sendable {
    struct Plug: Sendable {
        let name: String
        var isPresent = true
        var relayOn: Bool
        /// The command on its way, whose result toggle already reckons with. The last one wins.
        var wish: (id: RequestID, on: Bool)?
        var boot: BootID?
        var id: PlugID?
        /// The last event that came from it, so that a replay is recognised.
        var lastSequence: SequenceNumber = 0
        /// The last reading's time on the plug's clock since it appeared.
        var lastReading: Instant?

        /// What the relay will be when the command on its way has been carried out.
        var expectedOn: Bool { wish?.on ?? relayOn }

        /// What stays when the plug is renamed, as far as it is known.
        var lasting: String { id?.rawValue ?? name }
    }

    /// What a written name stands for.
    enum Found: Hashable {
        case plug(Int)
        case notPresent
        case ambiguous([String])

        var index: Int? {
            switch self {
            case .plug(let index): index
            case .notPresent, .ambiguous: nil
            }
        }
    }

    private var plugs: [Plug] = []
    private var indexes: [String: Int] = [:]

    subscript(index: Int) -> Plug {
        get { plugs[index] }
        set { plugs[index] = newValue }
    }

    func index(ofPresent name: String) -> Int? {
        guard let index = indexes[name], plugs[index].isPresent else { return nil }
        return index
    }

    /// The plug of exactly this name, else the only one whose name differs in capitals.
    func find(_ written: String) -> Found {
        if let index = index(ofPresent: written) { return .plug(index) }
        let wanted = written.lowercased()
        let near = plugs.indices.filter { plugs[$0].isPresent && plugs[$0].name.lowercased() == wanted }
        switch near.count {
        case 0: return .notPresent
        case 1: return .plug(near[0])
        case _: return .ambiguous(near.map { plugs[$0].name }.sorted())
        }
    }

    /// The plug's index; nil where the table is full.
    mutating func appear(_ name: String, _ state: PlugState, boot: BootID?, id: PlugID?) -> Int? {
        guard let index = indexes[name] else {
            guard plugs.count < RuleEngine.maximumPlugs else { return nil }
            indexes[name] = plugs.count
            plugs.append(
                Plug(name: name, relayOn: state.relayOn, boot: boot, id: id, lastReading: state.reading?.time))
            return plugs.count - 1
        }
        // Numbers never repeat in a plug's life, but a plug set back to factory state begins anew with another boot, and a
        // name may go over to another plug.
        if plugs[index].boot != boot || plugs[index].id != id { plugs[index].lastSequence = 0 }
        plugs[index].boot = boot
        plugs[index].id = id
        plugs[index].isPresent = true
        plugs[index].relayOn = state.relayOn
        plugs[index].wish = nil
        plugs[index].lastReading = state.reading?.time
        return index
    }

    mutating func lose(_ name: String) {
        guard let index = indexes[name] else { return }
        plugs[index].isPresent = false
        plugs[index].wish = nil
    }

    /// A command is on its way: toggle reckons with what it will do.
    mutating func expect(_ request: CommandRequest) {
        guard let index = index(ofPresent: request.plug), let on = request.command.relayOn else { return }
        plugs[index].wish = (request.id, on)
    }

    mutating func relay(_ name: String, on: Bool) {
        guard let index = index(ofPresent: name) else { return }
        plugs[index].relayOn = on
    }

    mutating func commandRecorded(_ name: String, id: RequestID) {
        guard let index = index(ofPresent: name), plugs[index].wish?.id == id else { return }
        plugs[index].wish = nil
    }

    mutating func commandFinished(_ name: String, id: RequestID, outcome: CommandOutcome) {
        guard let index = index(ofPresent: name) else { return }
        switch outcome {
        case .done(let state, _): plugs[index].relayOn = state.relayOn
        case .refused: break
        }
        if plugs[index].wish?.id == id { plugs[index].wish = nil }
    }

    mutating func gap(_ name: String, to last: SequenceNumber) {
        // It comes before the snapshot that makes the plug present again.
        guard let index = indexes[name] else { return }
        plugs[index].lastSequence = last
    }

    /// Whether an event of this number has not been seen yet; from now on it has.
    mutating func isNews(_ sequence: SequenceNumber, from index: Int) -> Bool {
        guard sequence > plugs[index].lastSequence else { return false }
        plugs[index].lastSequence = sequence
        return true
    }
}

extension PlugCommand {
    /// What the relay will be; nil where the command leaves it as it is.
    var relayOn: Bool? {
        switch self {
        case .setRelay(let on, _): on
        case .setLevel(let level, _): level.permille > 0
        case .identify, .resetProtection, .rename, .configure: nil
        }
    }
}
