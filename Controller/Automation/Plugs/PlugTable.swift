import PlugModel
import ProtocolCore

/// The engine's state of the plugs, by announced name. A plug keeps its index for the life of the table.
struct PlugTable: Sendable {
    struct Plug: Sendable {
        let name: String
        fileprivate(set) var isPresent = true
        fileprivate(set) var relayOn: Bool
        fileprivate(set) var level: DimLevel?
        /// The last command that is not answered yet, or nil. The action `toggle` assumes its result.
        fileprivate(set) var pending: (id: UInt128, on: Bool, level: DimLevel?)?
        /// The ids of the last commands of rules, by which their journal entries are recognized. A ring buffer.
        fileprivate var ours: [UInt128] = []
        /// The place of the oldest id, if the buffer is full.
        fileprivate var nextOfOurs = 0
        fileprivate(set) var boot: BootID?
        fileprivate(set) var id: PlugID?
        /// The number of the plug's last event, by which a replay is recognized.
        fileprivate var lastSequence: SequenceNumber = 0

        init(name: String, relayOn: Bool) {
            self.name = name
            self.relayOn = relayOn
        }

        /// The state of the relay after the unanswered command.
        var expectedOn: Bool { pending?.on ?? relayOn }
        var expectedLevel: DimLevel? { pending?.level ?? level }

        /// Returns true if a rule of this process sent the command recently.
        func isOurs(_ request: UInt128) -> Bool { ours.contains(request) }

        /// The permanent name: the plug's id, or its announced name if the id is unknown. A rename does not change the
        /// id.
        var lasting: String { id?.rawValue ?? name }
    }

    /// The result of a name search.
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

    /// The maximum number of stored command ids per plug: as many as a plug accepts unanswered at once,
    /// ``PlugWire/requestsInFlight``.
    private static let maximumOurs = 16

    private var plugs: [Plug] = []
    private var indexes: [String: Int] = [:]
    /// The indexes of the plugs by folded name, which is equal for names that differ only in capitals.
    private var folded: [String: [Int]] = [:]
    private var byID: [PlugID: Int] = [:]
    /// The plug ids to which written names are bound.
    private(set) var bound: [String: PlugID] = [:]
    /// The names of all paired plugs, present or not. Empty if unknown.
    private(set) var paired = PairedNames()

    var count: Int { plugs.count }

    subscript(index: Int) -> Plug {
        _read { yield plugs[index] }
    }

    func index(of name: String) -> Int? { indexes[name] }

    func index(ofPresent name: String) -> Int? {
        guard let index = indexes[name], plugs[index].isPresent else { return nil }
        return index
    }

    /// Finds the plug of a written name: the plug to which the name is bound, else the paired plug of that name, else
    /// the plug with exactly this name, else the only present plug whose name differs only in capitals.
    ///
    /// If two paired plugs have the same name, each is addressed by the name and its id, ``PlugID/distinguishing(_:)``.
    /// The name without an id is ambiguous.
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

    /// Returns true if the written name means the plug of this exact name, which has not appeared yet.
    func means(_ written: String, plugCalled name: String) -> Bool {
        let own = paired.owner(of: name)
        guard own != .unknown else { return written.foldedPlugName == name.foldedPlugName }
        return own == bound[written].map { .plug($0) } ?? paired.owner(of: written)
    }

    private func present(_ id: PlugID) -> Found {
        guard let index = byID[id], plugs[index].isPresent else { return .notPresent }
        return .plug(index)
    }

    /// Adds or updates a plug. Returns its index, or nil if the table is full.
    mutating func appear(_ name: String, _ state: PlugState, boot: BootID?, id: PlugID?) -> Int? {
        let index: Int
        if let known = indexes[name] {
            index = known
            // A new boot or a new id resets the stored number: a plug that has lost its stored state may start again at
            // the first event number, and a different plug may take over the name.
            if plugs[index].boot != boot || plugs[index].id != id { plugs[index].lastSequence = 0 }
        } else {
            guard plugs.count < RuleEngine.maximumPlugs else { return nil }
            index = plugs.count
            indexes[name] = index
            folded[name.foldedPlugName, default: []].append(index)
            plugs.append(Plug(name: name, relayOn: state.relayOn))
            if let shared = id?.shared(in: name) { folded[shared.foldedPlugName, default: []].append(index) }
        }
        // The name may have belonged to a different plug.
        if let before = plugs[index].id, before != id { byID[before] = nil }
        if let id { byID[id] = index }
        plugs[index].boot = boot
        plugs[index].id = id
        plugs[index].isPresent = true
        plugs[index].relayOn = state.relayOn
        plugs[index].level = state.level
        plugs[index].pending = nil
        return index
    }

    /// Sets the plugs to which names in rules are bound. Returns false if nothing changed.
    mutating func bind(_ names: [String: PlugID], paired: PairedNames) -> Bool {
        guard names != bound || paired != self.paired else { return false }
        (bound, self.paired) = (names, paired)
        return true
    }

    mutating func lose(_ index: Int) {
        plugs[index].isPresent = false
        plugs[index].pending = nil
    }

    /// Sets the state of relay and dimmer. Returns true if the relay turned on.
    mutating func set(on: Bool, level: DimLevel?, at index: Int) -> Bool {
        let wasOn = plugs[index].relayOn
        plugs[index].relayOn = on
        plugs[index].level = level
        return on && !wasOn
    }

    /// Records a command that is being sent. The action `toggle` assumes its result.
    mutating func expect(_ request: CommandRequest, at index: Int) {
        if plugs[index].ours.count < Self.maximumOurs {
            plugs[index].ours.append(request.key)
        } else {
            plugs[index].ours[plugs[index].nextOfOurs] = request.key
        }
        plugs[index].nextOfOurs = (plugs[index].nextOfOurs + 1) % Self.maximumOurs
        switch request.command {
        case .setRelay(let on, _): plugs[index].pending = (request.key, on, plugs[index].expectedLevel)
        case .setLevel(let level, _): plugs[index].pending = (request.key, level.permille > 0, level)
        case .identify, .resetProtection, .rename, .configure: break
        }
    }

    mutating func answered(_ id: UInt128, at index: Int) {
        if plugs[index].pending?.id == id { plugs[index].pending = nil }
    }

    mutating func gap(_ name: String, to last: SequenceNumber) {
        // The gap is reported before the snapshot that makes the plug present again, so the plug may still be absent.
        guard let index = indexes[name] else { return }
        plugs[index].lastSequence = last
    }

    /// Returns true if the event is new, and stores its number.
    mutating func isNews(_ sequence: SequenceNumber, from index: Int) -> Bool {
        guard sequence > plugs[index].lastSequence else { return false }
        plugs[index].lastSequence = sequence
        return true
    }
}
