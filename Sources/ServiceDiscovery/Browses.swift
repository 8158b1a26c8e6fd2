import DNSWire
import MulticastDNS

/// A change of a browsed service.
public enum ServiceChange: Hashable, Sendable {
    /// A service was found. The TXT attributes are nil until they are received; `changed` then reports them.
    case found(ServiceIdentity, txt: TXTRecord?)
    /// The TXT attributes were received or changed.
    case changed(ServiceIdentity, txt: TXTRecord?)
    case lost(ServiceIdentity)

    /// The service that was found, changed or lost.
    public var identity: ServiceIdentity {
        switch self {
        case .found(let identity, _), .changed(let identity, _), .lost(let identity): identity
        }
    }
}

/// The browses and their reported instances.
struct Browses: Sendable {
    private struct Browse {
        let type: ServiceType
        let question: QuestionKey
        /// The reported instances. The cache bounds them: an instance is removed together with its PTR record.
        var found: [Instance: Found] = [:]
    }

    private struct Instance: Hashable {
        let name: Name
        let interface: InterfaceID
    }

    private struct Found {
        let identity: ServiceIdentity
        var txt: TXTRecord?
    }

    private let domain: Name
    private let limit: Int
    private var browses: [BrowseID: Browse] = [:]

    init(domain: Name, limit: Int) {
        self.domain = domain
        self.limit = limit
    }

    /// The browses in the order of their ids.
    var ids: [BrowseID] { browses.keys.sorted() }

    /// Starts a browse. The caller then calls ``find(_:_:_:)``.
    mutating func start(_ id: BrowseID, _ type: ServiceType, _ steps: inout [DiscoveryStep]) {
        cancel(id, &steps)
        // Only a long subtype can make the name too long. Such a browse is ignored.
        guard browses.count < limit, let name = try? type.name(in: domain) else { return }
        let question = QuestionKey(name: name, type: .ptr)
        browses[id] = Browse(type: type, question: question)
        steps.append(.query(.ask(question, on: nil)))
    }

    /// Reports the instances in the cache.
    mutating func find(_ id: BrowseID, _ querier: Querier, _ steps: inout [DiscoveryStep]) {
        guard let question = browses[id]?.question else { return }
        for interface in querier.interfaces {
            for record in querier.records(for: question, on: interface).reversed() {
                noteInstance(record, of: id, on: interface, querier, &steps)
            }
        }
    }

    mutating func cancel(_ id: BrowseID, _ steps: inout [DiscoveryStep]) {
        guard let browse = browses.removeValue(forKey: id) else { return }
        steps.append(.query(.forget(browse.question, on: nil)))
        for instance in browse.found.keys {
            steps.append(.query(.forget(QuestionKey(name: instance.name, type: .txt), on: instance.interface)))
        }
    }

    /// Handles cache changes. The cache already contains the whole packet, so a service is reported with the TXT record
    /// of the same packet.
    mutating func note(
        _ changes: [CacheChange], on interface: InterfaceID, _ querier: Querier, _ steps: inout [DiscoveryStep]
    ) {
        for id in ids {
            for change in changes {
                switch change {
                case .added(let record):
                    noteInstance(record, of: id, on: interface, querier, &steps)
                    if record.type == .txt { noteText(record.name, of: id, on: interface, querier, &steps) }
                case .removed(let record):
                    noteLoss(record, of: id, on: interface, &steps)
                }
            }
        }
    }

    private mutating func noteInstance(
        _ record: Record, of id: BrowseID, on interface: InterfaceID, _ querier: Querier, _ steps: inout [DiscoveryStep]
    ) {
        guard let browse = browses[id], record.name == browse.question.name, case .ptr(let name) = record.data,
            let identity = ServiceIdentity(instance: name, type: browse.type, domain: domain, interface: interface)
        else { return }
        let instance = Instance(name: name, interface: interface)
        guard browse.found[instance] == nil, name.parent == (try? browse.type.base.name(in: domain)) else { return }
        let txt = querier.text(of: name, on: interface)
        browses[id]?.found[instance] = Found(identity: identity, txt: txt)
        steps.append(.report(.browse(id, .found(identity, txt: txt))))
        steps.append(.query(.ask(QuestionKey(name: name, type: .txt), on: interface)))
    }

    private mutating func noteText(
        _ name: Name, of id: BrowseID, on interface: InterfaceID, _ querier: Querier, _ steps: inout [DiscoveryStep]
    ) {
        let instance = Instance(name: name, interface: interface)
        guard let found = browses[id]?.found[instance] else { return }
        let txt = querier.text(of: name, on: interface)
        guard txt != nil, txt != found.txt else { return }
        browses[id]?.found[instance]?.txt = txt
        steps.append(.report(.browse(id, .changed(found.identity, txt: txt))))
    }

    private mutating func noteLoss(
        _ record: Record, of id: BrowseID, on interface: InterfaceID, _ steps: inout [DiscoveryStep]
    ) {
        guard record.name == browses[id]?.question.name, case .ptr(let name) = record.data,
            let found = browses[id]?.found.removeValue(forKey: Instance(name: name, interface: interface))
        else { return }
        steps.append(.report(.browse(id, .lost(found.identity))))
        steps.append(.query(.forget(QuestionKey(name: name, type: .txt), on: interface)))
    }
}

extension Querier {
    /// Returns the newest cached attributes of a service, or nil if none are cached.
    func text(of name: Name, on interface: InterfaceID) -> TXTRecord? {
        let newest = records(for: QuestionKey(name: name, type: .txt), on: interface).first
        guard case .txt(let data) = newest?.data else { return nil }
        return TXTRecord(decoding: data)
    }
}
