public import PlugModel
public import ProtocolCore
public import ServiceDiscovery

/// The plugs that are announced now, by name. One that is announced on several interfaces is one plug.
///
/// Anybody may announce anything. The names of plugs that matter, those that this controller is paired with, have room of their own;
/// so have, to a limit, names under which somebody announces the id of such a plug. All others share what is left: the oldest of them
/// goes when there are too many.
public struct PlugDirectory: Sendable {
    public enum Change: Hashable, Sendable {
        case appeared(String)
        /// Announced anew, or on a further interface: worth another try to reach it.
        case renewed(String)
        case disappeared(String)
    }

    /// Plugs that matter: as many as a controller is paired with.
    static let limit = 1024
    /// Others that are told at the same time. Stops a network of ever new names from filling the memory, and from having each of them
    /// connected to.
    static let strangerLimit = 256
    /// Others that wait for room; beyond it the one that has waited longest is forgotten.
    static let waitingLimit = 2048
    /// Names that claim to be one and the same plug, which may have been renamed. Each is tried, and the plug's key decides.
    static let claimLimit = 8
    /// Where there is no room, a newcomer takes the place of the oldest at most this often: names that come and go must not keep
    /// everybody busy who looks at the house.
    static let pause = Duration.milliseconds(100)

    private struct Entry {
        var identities: Set<ServiceIdentity> = []
        var id: PlugID?
        /// It said that it is a plug that matters, and was not reached as that.
        var isDoubted = false
        /// Others know of it.
        var isTold = false
    }

    private var entries: [String: Entry] = [:]
    /// Those without room of their own, told or not.
    private var strangers = AgedNames()
    private var waiting = AgedNames()
    private var lastReplacement: Instant?
    /// The plugs that matter, by what they were called last.
    private var paired: [PlugID: String] = [:]
    private var owners = PairedNames()
    private var pairedNames: Set<String> = []
    private let wanted: String?
    /// Further names that say they are one of them.
    private var claims: [PlugID: Set<String>] = [:]
    /// The names that have room of their own.
    public private(set) var favoured: Set<String> = []

    /// - Parameter wanted: a name that somebody asked for, which matters too.
    public init(wanted: String? = nil) { self.wanted = wanted?.foldedPlugName }

    public var names: [String] { entries.filter(\.value.isTold).keys.sorted() }

    func contains(_ name: String) -> Bool { entries[name]?.isTold == true }

    /// - Returns: what others should know, in order.
    public mutating func take(_ change: ServiceChange, now: Instant) -> [Change] {
        switch change {
        case .found(let identity, let txt), .changed(let identity, let txt):
            found(identity, txt?.plugID, now: now)
        case .lost(let identity): lost(identity, now: now)
        }
    }

    /// These plugs matter from now on, by what they were called last.
    public mutating func favour(_ plugs: [PlugID: String], now: Instant) -> [Change] {
        guard plugs != paired else { return [] }
        let kept = Set(plugs.keys.sorted { $0.rawValue < $1.rawValue }.prefix(Self.limit))
        paired = plugs.filter { kept.contains($0.key) }
        owners = PairedNames(paired)
        pairedNames = Set(paired.values.map(\.foldedPlugName))
        claims = claims.filter { paired[$0.key] != nil }.mapValues { names in
            names.filter { !pairedNames.contains($0.foldedPlugName) }
        }
        noteFavoured()
        return settle(now: now)
    }

    /// Whoever bears the name was not reached as the plug that it says it is: others that say so come before it.
    mutating func doubt(_ name: String) -> [Change] {
        guard let id = entries[name]?.id, claims[id]?.contains(name) == true else { return [] }
        entries[name]?.isDoubted = true
        withdrawClaim(of: name)
        strangers.add(name)
        let next = entries.filter { $0.value.id == id && !$0.value.isTold && !$0.value.isDoubted }.keys.min()
        guard let next, matters(next) else { return [] }
        waiting.remove(next)
        entries[next]?.isTold = true
        return [.appeared(next)]
    }

    /// The plug's own id, once it was announced.
    public func id(of name: String) -> PlugID? { entries[name]?.id }

    /// Those that are told of and say that they are this plug.
    func names(of id: PlugID) -> [String] { entries.filter { $0.value.isTold && $0.value.id == id }.keys.sorted() }

    /// The announced name of the plug that the user means. The name of a paired plug means its id only, whatever the plug is announced
    /// as. A name that no paired plug has means the plug that announces exactly this name, else the only one that differs in capitals only.
    public func match(_ name: String) -> String? {
        switch owner(of: name) {
        case .plug(let id): return announcedName(of: id, written: name)
        case .ambiguous: return nil
        case .unknown: break
        }
        if contains(name) { return name }
        let folded = name.foldedPlugName
        let alike = entries.filter { $0.value.isTold && $0.key.foldedPlugName == folded }.keys
        return alike.count == 1 ? alike.first : nil
    }

    /// The paired plug that the name means.
    func owner(of name: String) -> PlugNameOwner { owners.owner(of: name) }

    private func announcedName(of id: PlugID, written: String) -> String? {
        let own = [paired[id], written].compactMap(\.self)
        if let name = own.first(where: { contains($0) && entries[$0]?.id == id }) { return name }
        let announced = entries.filter { $0.value.isTold && $0.value.id == id && !$0.value.isDoubted }.keys.min()
        if let announced { return announced }
        // An unpaired plug has exactly its name, or the announcement has no id: a client that follows it receives the reason.
        return paired[id].flatMap { name in
            contains(name) && entries[name]?.id.map { paired[$0] == nil } ?? true ? name : nil
        }
    }

    // MARK: Coming and going

    private mutating func found(_ identity: ServiceIdentity, _ id: PlugID?, now: Instant) -> [Change] {
        let name = identity.name
        entries[name, default: Entry()].identities.insert(identity)
        // The TXT record may come after the name.
        if let id, id != entries[name]?.id {
            withdrawClaim(of: name)
            entries[name]?.id = id
            entries[name]?.isDoubted = false
        }
        let wasTold = contains(name)
        if matters(name) {
            strangers.remove(name)
            waiting.remove(name)
            entries[name]?.isTold = true
            return [wasTold ? .renewed(name) : .appeared(name)]
        }
        if wasTold {
            strangers.add(name)
            return [.renewed(name)]
        }
        waiting.add(name)
        if waiting.count > Self.waitingLimit, let oldest = waiting.takeOldest() { entries[oldest] = nil }
        return letIn(now: now)
    }

    private mutating func lost(_ identity: ServiceIdentity, now: Instant) -> [Change] {
        let name = identity.name
        guard entries[name]?.identities.remove(identity) != nil, entries[name]?.identities.isEmpty == true else {
            return []
        }
        return forget(name) + letIn(now: now)
    }

    private mutating func forget(_ name: String) -> [Change] {
        withdrawClaim(of: name)
        strangers.remove(name)
        waiting.remove(name)
        return entries.removeValue(forKey: name)?.isTold == true ? [.disappeared(name)] : []
    }

    // MARK: Room

    /// Whether the name has room of its own. One that says it is a plug that matters gets it, while there is room for such.
    private mutating func matters(_ name: String) -> Bool {
        let folded = name.foldedPlugName
        if folded == wanted || pairedNames.contains(folded) { return true }
        guard let entry = entries[name], let id = entry.id, paired[id] != nil else { return false }
        if claims[id]?.contains(name) == true { return true }
        guard !entry.isDoubted, claims[id, default: []].count < Self.claimLimit else { return false }
        claims[id, default: []].insert(name)
        favoured.insert(name)
        return true
    }

    private mutating func withdrawClaim(of name: String) {
        guard let id = entries[name]?.id, claims[id]?.remove(name) != nil else { return }
        noteFavoured()
    }

    private mutating func noteFavoured() {
        favoured = claims.values.reduce(into: Set(paired.values)) { $0.formUnion($1) }
    }

    /// What matters has changed: looks at all of them anew.
    private mutating func settle(now: Instant) -> [Change] {
        var changes: [Change] = []
        for name in entries.keys.sorted() {
            guard matters(name) else {
                if contains(name) { strangers.add(name) } else { waiting.add(name) }
                continue
            }
            strangers.remove(name)
            waiting.remove(name)
            if !contains(name) { changes.append(.appeared(name)) }
            entries[name]?.isTold = true
        }
        return changes + letIn(now: now)
    }

    /// Those that wait, as far as there is room; where there is none, from time to time one in the place of the oldest.
    private mutating func letIn(now: Instant) -> [Change] {
        var changes: [Change] = []
        while strangers.count < Self.strangerLimit, let next = waiting.takeOldest() { changes += tell(next) }
        guard waiting.count > 0, lastReplacement.map({ now - $0 >= Self.pause }) ?? true,
            let oldest = strangers.takeOldest(), let next = waiting.takeOldest()
        else { return changes }
        lastReplacement = now
        return changes + forget(oldest) + tell(next)
    }

    private mutating func tell(_ name: String) -> [Change] {
        strangers.add(name)
        entries[name]?.isTold = true
        return [.appeared(name)]
    }
}

extension TXTRecord {
    var plugID: PlugID? { self["id"].flatMap(PlugID.init(rawValue:)) }
}
