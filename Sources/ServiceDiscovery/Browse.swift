import DNSWire
import MulticastDNS
import ProtocolCore

/// A change of a browsed service.
public enum ServiceChange: Hashable, Sendable {
    /// A service was found. The TXT attributes are nil until they are received; `changed` then reports them.
    case found(ServiceIdentity, txt: TXTRecord?)
    /// The TXT attributes were received or changed.
    case changed(ServiceIdentity, txt: TXTRecord?)
    case lost(ServiceIdentity)
}

/// A browse and its reported instances.
struct Browse: Sendable {
    struct Instance: Hashable {
        let name: Name
        let interface: InterfaceID
    }

    struct Found {
        let identity: ServiceIdentity
        var txt: TXTRecord?
    }

    let type: ServiceType
    let question: QuestionKey
    /// The reported instances. The cache bounds them: an instance is removed together with its PTR record.
    var found: [Instance: Found] = [:]
}

extension DiscoveryNode {
    mutating func browse(_ id: BrowseID, _ type: ServiceType, now: Instant, _ actions: inout [Action]) {
        if browses[id] != nil { cancelBrowse(id, now: now, &actions) }
        // Only a long subtype can make the name too long. Such a browse is ignored.
        guard browses.count < configuration.browseLimit, let name = try? type.name(in: domain) else { return }
        let question = QuestionKey(name: name, type: .ptr)
        browses[id] = Browse(type: type, question: question)
        query(.ask(question, on: nil), now: now, &actions)
        for interface in querier.interfaces {
            for record in querier.records(for: question, on: interface).reversed() {
                noteInstance(record, of: id, on: interface, now: now, &actions)
            }
        }
    }

    mutating func cancelBrowse(_ id: BrowseID, now: Instant, _ actions: inout [Action]) {
        guard let browse = browses.removeValue(forKey: id) else { return }
        query(.forget(browse.question, on: nil), now: now, &actions)
        for instance in browse.found.keys {
            query(.forget(QuestionKey(name: instance.name, type: .txt), on: instance.interface), now: now, &actions)
        }
    }

    /// Handles cache changes. The cache already contains the whole packet, so a service is reported with the TXT record
    /// of the same packet.
    mutating func noteBrowsed(
        _ changes: [CacheChange], on interface: InterfaceID, now: Instant, _ actions: inout [Action]
    ) {
        for id in browses.keys.sorted() {
            for change in changes {
                switch change {
                case .added(let record):
                    noteInstance(record, of: id, on: interface, now: now, &actions)
                    if record.type == .txt { noteText(record.name, of: id, on: interface, &actions) }
                case .removed(let record):
                    noteLoss(record, of: id, on: interface, now: now, &actions)
                }
            }
        }
    }

    private mutating func noteInstance(
        _ record: Record, of id: BrowseID, on interface: InterfaceID, now: Instant, _ actions: inout [Action]
    ) {
        guard let browse = browses[id], record.name == browse.question.name, case .ptr(let name) = record.data,
            let identity = ServiceIdentity(instance: name, type: browse.type, domain: domain, interface: interface)
        else { return }
        let instance = Browse.Instance(name: name, interface: interface)
        guard browse.found[instance] == nil, name.parent == (try? browse.type.base.name(in: domain)) else { return }
        let txt = text(of: name, on: interface)
        browses[id]?.found[instance] = Browse.Found(identity: identity, txt: txt)
        actions.append(.browse(id, .found(identity, txt: txt)))
        query(.ask(QuestionKey(name: name, type: .txt), on: interface), now: now, &actions)
    }

    private mutating func noteText(
        _ name: Name, of id: BrowseID, on interface: InterfaceID, _ actions: inout [Action]
    ) {
        let instance = Browse.Instance(name: name, interface: interface)
        guard let found = browses[id]?.found[instance] else { return }
        let txt = text(of: name, on: interface)
        guard txt != nil, txt != found.txt else { return }
        browses[id]?.found[instance]?.txt = txt
        actions.append(.browse(id, .changed(found.identity, txt: txt)))
    }

    private mutating func noteLoss(
        _ record: Record, of id: BrowseID, on interface: InterfaceID, now: Instant, _ actions: inout [Action]
    ) {
        guard let browse = browses[id], record.name == browse.question.name, case .ptr(let name) = record.data,
            let found = browses[id]?.found.removeValue(forKey: Browse.Instance(name: name, interface: interface))
        else { return }
        actions.append(.browse(id, .lost(found.identity)))
        query(.forget(QuestionKey(name: name, type: .txt), on: interface), now: now, &actions)
    }

    func text(of name: Name, on interface: InterfaceID) -> TXTRecord? {
        let newest = querier.records(for: QuestionKey(name: name, type: .txt), on: interface).first
        guard case .txt(let data) = newest?.data else { return nil }
        return TXTRecord(decoding: data)
    }
}
