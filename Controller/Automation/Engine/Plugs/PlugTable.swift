import PlugModel
import ProtocolCore

/// What the engine knows of the plugs, by announced name. A plug keeps its index for as long as the table lives.
struct PlugTable: Sendable {
    struct Plug: Sendable {
        let name: String
        var isPresent = true
        var relayOn: Bool
        var level: DimLevel?
        /// The command on its way, whose result toggle already reckons with. The last one wins.
        var wish: (id: UInt128, on: Bool, level: DimLevel?)?
        /// Commands of rules, the last ones, by which their journal entries are known.
        var ours: [UInt128] = []
        /// The place of the oldest of them, where there are as many as are kept.
        var nextOfOurs = 0
        var boot: BootID?
        var id: PlugID?
        /// The last event that came from it, so that a replay is recognised.
        var lastSequence: SequenceNumber = 0

        init(name: String, relayOn: Bool) {
            self.name = name
            self.relayOn = relayOn
        }

        /// What the relay will be when the command on its way has been carried out.
        var expectedOn: Bool { wish?.on ?? relayOn }
        var expectedLevel: DimLevel? { wish?.level ?? level }

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

    /// Commands known again by their journal entries: more than a plug has on their way at once.
    private static let maximumOurs = 16

    private var plugs: [Plug] = []
    private var indexes: [String: Int] = [:]
    /// Those whose names are alike but for capitals.
    private var folded: [String: [Int]] = [:]
    private var byID: [PlugID: Int] = [:]
    /// What written names mean.
    var bound: [String: PlugID] = [:]
    /// The names of all paired plugs, present or not. Empty if they are not known.
    var paired = PairedNames()

    var count: Int { plugs.count }

    subscript(index: Int) -> Plug {
        _read { yield plugs[index] }
        _modify { yield &plugs[index] }
    }

    func index(of name: String) -> Int? { indexes[name] }

    func index(ofPresent name: String) -> Int? {
        guard let index = indexes[name], plugs[index].isPresent else { return nil }
        return index
    }

    /// The plug that the name is bound to, else the paired plug that has the name, else the plug of exactly this name, else the only one
    /// whose name differs in capitals.
    ///
    /// Of two paired plugs with one name each is called by it with its id, ``PlugID/distinguishing(_:)``: the name alone fits neither.
    func find(_ written: String) -> Found {
        if let id = bound[written] {
            return present(id)
        }
        switch paired.owner(of: written) {
        case .plug(let id): return present(id)
        case .ambiguous(let ids): return .ambiguous(ids.compactMap { paired.names[$0] }.sorted())
        case .unknown: break
        }
        if let index = index(ofPresent: written) { return .plug(index) }
        guard let alike = folded[written.foldedPlugName] else { return .notPresent }
        let near = alike.filter { plugs[$0].isPresent }
        switch near.count {
        case 0: return .notPresent
        case 1 where plugs[near[0]].name.foldedPlugName == written.foldedPlugName: return .plug(near[0])
        case _: return .ambiguous(near.map { plugs[$0].name }.sorted())
        }
    }

    /// Whether the written name means the plug of this exact name, which has not appeared yet.
    func means(_ written: String, plugCalled name: String) -> Bool {
        let own = paired.owner(of: name)
        guard own != .unknown else { return written.foldedPlugName == name.foldedPlugName }
        return own == bound[written].map { .plug($0) } ?? paired.owner(of: written)
    }

    private func present(_ id: PlugID) -> Found {
        guard let index = byID[id], plugs[index].isPresent else { return .notPresent }
        return .plug(index)
    }

    /// The plug's index; nil where the table is full.
    mutating func appear(_ name: String, _ state: PlugState, boot: BootID?, id: PlugID?) -> Int? {
        let index: Int
        if let known = indexes[name] {
            index = known
            // Numbers never repeat in a plug's life, but a plug set back to factory state begins anew with another boot, and a
            // name may go over to another plug.
            if plugs[index].boot != boot || plugs[index].id != id { plugs[index].lastSequence = 0 }
        } else {
            guard plugs.count < RuleEngine.maximumPlugs else { return nil }
            index = plugs.count
            indexes[name] = index
            folded[name.foldedPlugName, default: []].append(index)
            plugs.append(Plug(name: name, relayOn: state.relayOn))
            if let shared = id?.shared(in: name) { folded[shared.foldedPlugName, default: []].append(index) }
        }
        // The name may have been another plug's.
        if let before = plugs[index].id, before != id { byID[before] = nil }
        if let id { byID[id] = index }
        plugs[index].boot = boot
        plugs[index].id = id
        plugs[index].isPresent = true
        plugs[index].relayOn = state.relayOn
        plugs[index].level = state.level
        plugs[index].wish = nil
        return index
    }

    mutating func lose(_ index: Int) {
        plugs[index].isPresent = false
        plugs[index].wish = nil
    }

    /// A command is on its way: toggle reckons with what it will do.
    mutating func expect(_ request: CommandRequest, at index: Int) {
        if plugs[index].ours.count < Self.maximumOurs {
            plugs[index].ours.append(request.key)
        } else {
            plugs[index].ours[plugs[index].nextOfOurs] = request.key
        }
        plugs[index].nextOfOurs = (plugs[index].nextOfOurs + 1) % Self.maximumOurs
        switch request.command {
        case .setRelay(let on, _): plugs[index].wish = (request.key, on, plugs[index].expectedLevel)
        case .setLevel(let level, _): plugs[index].wish = (request.key, level.permille > 0, level)
        case .identify, .resetProtection, .rename, .configure: break
        }
    }

    mutating func answered(_ id: UInt128, at index: Int) {
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
