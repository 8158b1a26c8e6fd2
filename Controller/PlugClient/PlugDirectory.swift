public import PlugModel
public import ProtocolCore
public import ServiceDiscovery

/// The plugs that are announced now, by name. A plug that is announced on several interfaces counts once.
///
/// Any host can announce any name. The names of paired plugs therefore have reserved room, and so do a limited number
/// of names that are announced with the id of a paired plug. All other names share the remaining room, and the oldest
/// is removed when there are too many.
public struct PlugDirectory: Sendable {
    /// A change of the reported plugs.
    public enum Change: Hashable, Sendable {
        /// The name was announced for the first time, or received room after it had waited.
        case appeared(String)
        /// The name was announced again or on a further interface; a new connection attempt may succeed.
        case renewed(String)
        /// The name is no longer announced, or lost its room.
        case disappeared(String)
    }

    /// The maximum number of paired plugs, as in `PairedPlugs`.
    static let limit = 1024
    /// The maximum number of other names that are reported at the same time. The limit prevents a network with
    /// constantly new names from filling the memory and from causing a connection for each name.
    static let strangerLimit = 256
    /// The maximum number of other names that wait for room. Above it, the name that has waited longest is removed.
    static let waitingLimit = 2048
    /// The maximum number of names with reserved room that are announced with the id of one paired plug. The plug may
    /// have been renamed, so each name is tried, and the key decides.
    static let claimLimit = 8
    /// The minimum interval between replacements of the oldest name when all room is taken. This interval prevents a
    /// flood of new names from keeping all readers of the directory busy.
    static let pause = Duration.milliseconds(100)

    /// An announced name.
    private struct Entry {
        var identities: Set<ServiceIdentity> = []
        var id: PlugID?
        /// True if the name is announced with the id of a paired plug, but that plug was not reached under the name.
        var isDoubted = false
        /// True if the name was reported as appeared.
        var isTold = false
    }

    private var entries: [String: Entry] = [:]
    /// The reported names without reserved room.
    private var strangers = InsertionOrderedNames()
    /// The names that wait for room and are not reported.
    private var waiting = InsertionOrderedNames()
    private var lastReplacement: Instant?
    /// The paired plugs with their last known names.
    private var paired: [PlugID: String] = [:]
    private var owners = PairedNames()
    private var pairedNames: Set<String> = []
    private let wanted: String?
    /// For each paired plug, the names that are announced with its id and have reserved room for this reason. The
    /// plug's own name is not included.
    private var claims: [PlugID: Set<String>] = [:]
    /// The names with reserved room, without the name that the user is searching for.
    public private(set) var favoured: Set<String> = []

    /// Creates an empty directory.
    ///
    /// - Parameter wanted: A name that the user is searching for; it has reserved room too.
    public init(wanted: String? = nil) { self.wanted = wanted?.foldedPlugName }

    /// The reported names, sorted.
    public var names: [String] { entries.filter(\.value.isTold).keys.sorted() }

    /// Returns true if the name is reported.
    func contains(_ name: String) -> Bool { entries[name]?.isTold == true }

    /// Handles a change that discovery found.
    ///
    /// - Returns: The resulting changes of the reported plugs, in order.
    public mutating func handle(_ change: ServiceChange, now: Instant) -> [Change] {
        switch change {
        case .found(let identity, let txt), .changed(let identity, let txt):
            found(identity, txt?.plugID, now: now)
        case .lost(let identity): lost(identity, now: now)
        }
    }

    /// Replaces the list of paired plugs and their last known names.
    ///
    /// - Returns: The resulting changes of the reported plugs, in order.
    public mutating func prioritize(_ plugs: [PlugID: String], now: Instant) -> [Change] {
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

    /// Handles a failed attempt to reach a paired plug under this name. The name loses its reserved room. If other
    /// names claim the same plug and are not reported yet, the first one in alphabetical order is reported.
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

    /// Returns the announced id of the name; nil if the announcement has none.
    public func id(of name: String) -> PlugID? { entries[name]?.id }

    /// Returns the reported names that claim this plug.
    func names(of id: PlugID) -> [String] { entries.filter { $0.value.isTold && $0.value.id == id }.keys.sorted() }

    /// Returns the announced name of the plug that the user means; nil if no plug has it or if the name is ambiguous.
    /// The name of a paired plug refers only to the plug with its id, under any announced name. A name that no paired
    /// plug has refers to the plug that announces exactly this name, or else to the only one that differs only in
    /// capitalization.
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

    /// Returns the paired plug that the name refers to.
    func owner(of name: String) -> PlugNameOwner { owners.owner(of: name) }

    private func announcedName(of id: PlugID, written: String) -> String? {
        let own = [paired[id], written].compactMap(\.self)
        if let name = own.first(where: { contains($0) && entries[$0]?.id == id }) { return name }
        let announced = entries.filter { $0.value.isTold && $0.value.id == id && !$0.value.isDoubted }.keys.min()
        if let announced { return announced }
        // The last known name of the paired plug also matches an announcement without an id or with the id of an
        // unpaired plug. A client that follows this name receives the reason why it cannot connect.
        return paired[id].flatMap { name in
            contains(name) && entries[name]?.id.map { paired[$0] == nil } ?? true ? name : nil
        }
    }

    // MARK: Announcements

    private mutating func found(_ identity: ServiceIdentity, _ id: PlugID?, now: Instant) -> [Change] {
        let name = identity.name
        entries[name, default: Entry()].identities.insert(identity)
        // The TXT record may arrive after the name.
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

    /// Returns true if the name has reserved room. A name that is announced with the id of a paired plug receives
    /// reserved room if fewer than `claimLimit` names have claimed that plug.
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

    /// Assigns the room again after the list of paired plugs changed.
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

    /// Reports waiting names while there is room. Without room, a waiting name replaces the oldest one, at most once
    /// per `pause`.
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
