import DNSWire
import MulticastDNS
import ProtocolCore

/// Enumerates service types (RFC 6763 §9).
extension DiscoveryNode {
    private static let enumeration: Name = "_services._dns-sd._udp.local"
    private static let question = QuestionKey(name: enumeration, type: .ptr)

    mutating func browseTypes(_ id: BrowseID, now: Instant, _ actions: inout [Action]) {
        guard typeBrowses[id] == nil, typeBrowses.count < configuration.browseLimit else { return }
        typeBrowses[id] = []
        query(.ask(Self.question, on: nil), now: now, &actions)
        reportTypes(&actions)
    }

    mutating func cancelTypeBrowse(_ id: BrowseID, now: Instant, _ actions: inout [Action]) {
        guard typeBrowses.removeValue(forKey: id) != nil else { return }
        query(.forget(Self.question, on: nil), now: now, &actions)
    }

    mutating func noteTypes(_ changes: [CacheChange], _ actions: inout [Action]) {
        guard !typeBrowses.isEmpty else { return }
        let concern = changes.contains { change in
            switch change {
            case .added(let record), .removed(let record): record.name == Self.enumeration
            }
        }
        if concern { reportTypes(&actions) }
    }

    private mutating func reportTypes(_ actions: inout [Action]) {
        // Names that are not a service type in this domain are ignored.
        let types = querier.interfaces.flatMap { querier.records(for: Self.question, on: $0) }.compactMap { record in
            switch record.data {
            case .ptr(let name): ServiceType(name: name, domain: domain)
            case .a, .aaaa, .srv, .txt, .nsec, .other: nil
            }
        }
        let all = Set(types).sorted { $0.description < $1.description }
        for id in typeBrowses.keys.sorted() where typeBrowses[id] != all {
            typeBrowses[id] = all
            actions.append(.types(id, all))
        }
    }
}
