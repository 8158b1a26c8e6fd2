import PlugModel
import ProtocolCore
import ServiceDiscovery

/// The announced names of a house, and the names that are bound to paired plugs.
struct HouseNames: Sendable {
    /// The maximum age of the list of paired plugs, which other programs may change.
    private static let freshness = Duration.seconds(1)

    private var directory = PlugDirectory()
    private var paired = PairedNames()
    /// The paired plugs by their exact name. Only a damaged list has two plugs with one name.
    private var holders: [String: Set<PlugID>] = [:]
    private var learnedAt: Instant?
    private var prioritized: Set<String> = []

    // MARK: The list of paired plugs

    /// Returns true if the list must be read again.
    func isOutdated(at now: Instant) -> Bool { learnedAt.map { now - $0 >= Self.freshness } ?? true }

    /// Handles the list of paired plugs with their last known names; nil if it cannot be read now, in which case the
    /// previous list stays valid.
    mutating func learn(_ list: [PlugID: String]?, now: Instant) -> [PlugDirectory.Change] {
        learnedAt = now
        guard let list else { return [] }
        if list != paired.names {
            paired = PairedNames(list)
            holders = list.reduce(into: [:]) { $0[$1.value, default: []].insert($1.key) }
        }
        return directory.prioritize(list, now: now)
    }

    func isPaired(_ plug: PlugID) -> Bool { paired.names[plug] != nil }

    /// Returns the paired plugs with exactly this name.
    func holders(of name: String) -> Set<PlugID> { holders[name] ?? [] }

    /// Returns the paired plug that the name refers to.
    func owner(of name: String) -> PlugNameOwner { paired.owner(of: name) }

    /// Returns the reason why the name is ambiguous; nil if it is not.
    func ambiguity(of name: String) -> SharedPlugName? { SharedPlugName(name, among: paired.names) }

    /// Returns the name that is bound to the announced id, or else the announced name.
    func boundName(announced name: String) -> String { directory.id(of: name).flatMap { paired.names[$0] } ?? name }

    /// Returns the bound name of a connected plug that reported these names; nil for a plug that is not paired.
    func boundName(of plug: PlugID, _ names: PlugNames) -> String? {
        guard let known = paired.names[plug], plug.shared(in: known) != names.given else { return paired.names[plug] }
        return names.bound(known: known) { name in
            paired.names.contains { $0.key != plug && $0.value.foldedPlugName == name.foldedPlugName }
        }
    }

    // MARK: Announcements

    mutating func handle(_ change: ServiceChange, now: Instant) -> [PlugDirectory.Change] {
        directory.handle(change, now: now)
    }

    /// Returns the names that discovery must prioritize; nil if they did not change since the last call.
    mutating func newPriorities() -> Set<String>? {
        guard directory.favoured != prioritized else { return nil }
        prioritized = directory.favoured
        return prioritized
    }

    /// Marks an announcement as doubtful (see ``PlugDirectory``).
    mutating func doubt(_ name: String) -> [PlugDirectory.Change] { directory.doubt(name) }

    func isAnnounced(_ name: String) -> Bool { directory.contains(name) }

    /// Returns the announced id of the name; nil if the announcement has none.
    func id(announced name: String) -> PlugID? { directory.id(of: name) }

    /// Returns the names that are announced with the id of this plug.
    func names(announcing plug: PlugID) -> [String] { directory.names(of: plug) }

    /// Returns the announced name that the user means; nil if no plug has it or if it is ambiguous.
    func match(_ name: String) -> String? { directory.match(name) }
}
