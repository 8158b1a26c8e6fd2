import LinuxSystem
import PlugModel
import ServiceDiscovery

/// Reports each paired plug with a stored address as if it was announced under its name, and each change of the stored
/// addresses and names, until the reader stops. A house therefore follows a plug that multicast DNS does not reach.
struct AddressAnnouncements: AsyncSequence, Sendable {
    typealias Element = ServiceChange
    typealias Failure = Never

    /// The interval at which the files are read again, because other programs change them.
    private static let interval = Duration.seconds(1)
    /// The time in which a plug that answers in the local network is found there first.
    private static let headStart = Duration.milliseconds(250)

    let paired: PairedPlugs

    func makeAsyncIterator() -> Iterator { Iterator(paired: paired) }

    struct Iterator: AsyncIteratorProtocol {
        private let paired: PairedPlugs
        private var plugs = AddressedPlugs()
        private var unread: [ServiceChange] = []
        private var pause = AddressAnnouncements.headStart

        init(paired: PairedPlugs) { self.paired = paired }

        /// Returns the next change; nil after the task was cancelled.
        mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> ServiceChange? {
            while unread.isEmpty {
                do { try await Task.sleep(for: pause) } catch { return nil }
                pause = AddressAnnouncements.interval
                // While a file cannot be read, the previous addresses stay valid.
                if let current = try? AddressedPlugs.read(paired) { unread = plugs.update(current) }
            }
            return unread.removeFirst()
        }
    }
}

/// The plugs that are reported because of their stored address.
struct AddressedPlugs: Sendable {
    /// The name of a plug, as in ``PairedPlugs/names()``, and its stored address.
    struct Place: Hashable, Sendable {
        var name: String
        var address: PlugAddress
    }

    private var places: [PlugID: Place] = [:]

    /// Reads the paired plugs with a stored address.
    static func read(_ paired: PairedPlugs) throws(PairedPlugsError) -> [PlugID: Place] {
        let addresses = try paired.addresses()
        guard !addresses.isEmpty else { return [:] }
        return try paired.names().reduce(into: [:]) { places, plug in
            if let address = addresses[plug.key] { places[plug.key] = Place(name: plug.value, address: address) }
        }
    }

    /// Replaces the plugs.
    ///
    /// - Returns: The changes, ordered by id. A plug that is renamed is lost first. A plug with a new address is found
    ///   again, so that it is connected to at once.
    mutating func update(_ current: [PlugID: Place]) -> [ServiceChange] {
        let previous = places
        places = current
        let ids = Set(previous.keys).union(current.keys).filter { previous[$0] != current[$0] }
        return ids.sorted { $0.rawValue < $1.rawValue }.flatMap { id -> [ServiceChange] in
            let former = previous[id].flatMap { $0.name == current[id]?.name ? nil : $0 }
            let lost = former.map { ServiceChange.lost(PlugAddress.identity(of: $0.name)) }
            let found = current[id].map {
                ServiceChange.found(PlugAddress.identity(of: $0.name), txt: TXTRecord(plug: id))
            }
            return [lost, found].compactMap(\.self)
        }
    }
}

extension PlugAddress {
    /// The domain of the identities of plugs that are reached by address. No name server is asked for it.
    public static let domain = "address"

    static func identity(of name: String) -> ServiceIdentity {
        ServiceIdentity(name: name, type: PlugClient.serviceType, domain: domain)
    }
}

extension TXTRecord {
    /// The attributes with which a plug states its id.
    init(plug id: PlugID) {
        self.init()
        // An id is shorter than the limit of an attribute.
        if let record = try? TXTRecord(["id": id.rawValue]) { self = record }
    }
}
