import DNSWire
import MulticastDNS
import ProtocolCore

/// The sleepers by card, with indices by address, name and group.
struct SleeperTable: Sendable {
    private var sleepers: [MACAddress: Sleeper] = [:]
    private var cardsByAddress: [IPAddress: MACAddress] = [:]
    private var cardsByName: [Name: MACAddress] = [:]
    private var cardsByGroup: [GroupID: MACAddress] = [:]
    /// The time of the next step of any sleeper. It is stored because each frame of the link needs it, and few frames
    /// change a sleeper.
    private(set) var nextDeadline: Instant?
    /// A number that changes when a sleeper is added, replaced or removed.
    private(set) var generation: UInt64 = 0

    /// The sleeper with this card, or nil.
    subscript(card: MACAddress) -> Sleeper? { sleepers[card] }

    /// The number of sleepers.
    var count: Int { sleepers.count }

    /// The sleepers in any order.
    var all: some Collection<Sleeper> { sleepers.values }

    /// The sleepers in the order of their cards, so that a run repeats exactly.
    var ordered: [Sleeper] { sleepers.values.sorted { $0.owner.card.rawValue < $1.owner.card.rawValue } }

    /// The cards with a step that is due, in order.
    func due(_ now: Instant) -> [MACAddress] {
        guard let nextDeadline, nextDeadline <= now else { return [] }
        return sleepers.values.filter { $0.nextDeadline <= now }.map(\.owner.card).sorted { $0.rawValue < $1.rawValue }
    }

    /// Returns the sleeper with this address.
    func sleeper(at address: IPAddress) -> Sleeper? { cardsByAddress[address].flatMap { sleepers[$0] } }

    /// Returns the sleeper with this unique name.
    func sleeper(named name: Name) -> Sleeper? { cardsByName[name].flatMap { sleepers[$0] } }

    /// Returns the sleeper with this group.
    func sleeper(with group: GroupID) -> Sleeper? { cardsByGroup[group].flatMap { sleepers[$0] } }

    /// Returns the sleepers of a host, which may have several cards.
    func sleepers(of primary: MACAddress) -> [Sleeper] { ordered.filter { $0.owner.primary == primary } }

    /// Adds or replaces the sleeper.
    mutating func set(_ sleeper: Sleeper) {
        let card = sleeper.owner.card
        if let previous = sleepers[card] { removeIndices(previous) }
        sleepers[card] = sleeper
        for address in sleeper.records.addresses { cardsByAddress[address] = card }
        for name in sleeper.records.names { cardsByName[name] = card }
        for group in sleeper.groups.values { cardsByGroup[group] = card }
        generation &+= 1
        updateDeadline()
    }

    /// Changes the state of a sleeper.
    mutating func setPhase(_ phase: Sleeper.Phase, of card: MACAddress) {
        sleepers[card]?.phase = phase
        updateDeadline()
    }

    /// Removes and returns the sleeper.
    mutating func remove(_ card: MACAddress) -> Sleeper? {
        guard let sleeper = sleepers.removeValue(forKey: card) else { return nil }
        removeIndices(sleeper)
        generation &+= 1
        updateDeadline()
        return sleeper
    }

    private mutating func updateDeadline() { nextDeadline = sleepers.values.lazy.map(\.nextDeadline).min() }

    private mutating func removeIndices(_ sleeper: Sleeper) {
        for address in sleeper.records.addresses { cardsByAddress[address] = nil }
        for name in sleeper.records.names { cardsByName[name] = nil }
        for group in sleeper.groups.values { cardsByGroup[group] = nil }
    }
}
