import DNSWire
import MulticastDNS

/// The enumerations of service types (RFC 6763 §9).
struct TypeBrowses: Sendable {
    private static let enumeration: Name = "_services._dns-sd._udp.local"
    private static let question = QuestionKey(name: enumeration, type: .ptr)

    private let domain: Name
    private let limit: Int
    /// The reported types per type browse.
    private var reported: [BrowseID: [ServiceType]] = [:]

    init(domain: Name, limit: Int) {
        self.domain = domain
        self.limit = limit
    }

    /// The type browses in the order of their ids.
    var ids: [BrowseID] { reported.keys.sorted() }

    /// Starts an enumeration. Returns false if the request is ignored; otherwise the caller calls ``report(_:_:)``
    /// next.
    mutating func start(_ id: BrowseID, _ steps: inout [DiscoveryStep]) -> Bool {
        guard reported[id] == nil, reported.count < limit else { return false }
        reported[id] = []
        steps.append(.query(.ask(Self.question, on: nil)))
        return true
    }

    mutating func cancel(_ id: BrowseID, _ steps: inout [DiscoveryStep]) {
        guard reported.removeValue(forKey: id) != nil else { return }
        steps.append(.query(.forget(Self.question, on: nil)))
    }

    mutating func note(_ changes: [CacheChange], _ querier: Querier, _ steps: inout [DiscoveryStep]) {
        guard !reported.isEmpty else { return }
        let concern = changes.contains { change in
            switch change {
            case .added(let record), .removed(let record): record.name == Self.enumeration
            }
        }
        if concern { report(querier, &steps) }
    }

    /// Reports the types in the cache for each enumeration whose last report was different.
    mutating func report(_ querier: Querier, _ steps: inout [DiscoveryStep]) {
        // Names that are not a service type in this domain are ignored.
        let types = querier.interfaces.flatMap { querier.records(for: Self.question, on: $0) }.compactMap { record in
            switch record.data {
            case .ptr(let name): ServiceType(name: name, domain: domain)
            case .a, .aaaa, .srv, .txt, .nsec, .other: nil
            }
        }
        let all = Set(types).sorted { $0.description < $1.description }
        for id in ids where reported[id] != all {
            reported[id] = all
            steps.append(.report(.types(id, all)))
        }
    }
}
