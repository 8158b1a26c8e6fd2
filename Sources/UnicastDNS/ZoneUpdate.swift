import DNSWire
import ServiceDiscovery

/// The records of a service in a zone (RFC 6763 §4 to §9).
struct ZoneRecords: Hashable, Sendable {
    let service: ZoneService
    /// The first label of the instance name: the service's name, or the name after conflicts.
    let label: String
    /// The service instance name.
    let instance: Name
    /// The host of the service.
    let host: Name
    /// The service with its port.
    let location: Record
    private let text: Record
    private let addresses: [Record]
    /// The entries in the lists of services: one for the type and one per subtype.
    private let entries: [Record]
    /// The entry in the list of types.
    private let type: Record

    /// The time to live in seconds. A browser asks again after this time.
    private static let timeToLive: UInt32 = 120

    /// - Throws: ``NameError`` if a name is too long in this zone.
    init(_ service: ZoneService, named label: String, in zone: Name) throws(NameError) {
        func record(_ name: Name, _ data: RecordData) -> Record {
            Record(name: name, timeToLive: Self.timeToLive, data: data)
        }
        self.service = service
        self.label = label
        let registration = service.registration
        let type = try registration.type.name(in: zone)
        let instance = try type.prepending(label: Array(label.utf8))
        let host = try zone.prepending(label: Array(registration.hostName.utf8))
        self.instance = instance
        self.host = host
        location = record(instance, .srv(priority: 0, weight: 0, port: service.port, target: host))
        text = record(instance, .txt(registration.txt.encoded))
        addresses = service.addresses.map { record(host, RecordData($0)) }
        var entries = [record(type, .ptr(instance))]
        for label in registration.subtypes {
            // The registration has checked its subtypes.
            guard let subtype = try? registration.type.subtype(label) else { continue }
            entries.append(record(try subtype.name(in: zone), .ptr(instance)))
        }
        self.entries = entries
        let list = try Name(labels: RFC6763.enumerationLabels.map { Array($0.utf8)[...] } + zone.labels)
        self.type = record(list, .ptr(type))
    }

    /// The changes that make the zone contain exactly these records for the instance and the host.
    var additions: [Record] {
        [.deletingAll(instance), .deletingAll(host)] + addresses + [location, text] + entries + [type]
    }

    /// The instructions that register the service at a registrar (RFC 9665 §3.3.1), which adds the entry in the list of
    /// types itself.
    func claims(with key: [UInt8]) -> [Record] {
        entries + [.deletingAll(instance), location, text] + host(with: key, addresses)
    }

    /// The instructions that remove the service, but not the host.
    func claimRemovals(with key: [UInt8]) -> [Record] {
        entries.map(\.deleting) + [.deletingAll(instance)] + host(with: key, addresses)
    }

    /// The instructions that remove the host and all its services, with a lease of 0.
    func hostRemovals(with key: [UInt8]) -> [Record] { host(with: key, []) }

    private func host(with key: [UInt8], _ addresses: [Record]) -> [Record] {
        let record = Record(name: host, timeToLive: Self.timeToLive, data: .other(.key, key))
        return [.deletingAll(host)] + addresses + [record]
    }

    /// The changes that remove the records. The list of types is shared with other services and stays.
    var removals: [Record] { [.deletingAll(instance), .deletingAll(host)] + entries.map(\.deleting) }
}

/// An update of a zone (RFC 2136), which the server carries out completely or not at all.
struct ZoneUpdate {
    /// The condition for the update.
    enum Condition: Hashable {
        /// No record has the name (§2.4.5).
        case isFree(Name)
        /// This is the only record with its name and type (§2.4.2).
        case exists(Record)
    }

    let zone: Name
    let condition: Condition?
    let changes: [Record]
    /// The lifetimes of the records in seconds (RFC 9664). Servers without leases ignore them.
    let lease: UpdateLeaseOption

    func message(id: UInt16) -> Message {
        let prerequisite: Record? =
            switch condition {
            case .isFree(let name): Record(name: name, recordClass: .absent, timeToLive: 0, data: .other(.any, []))
            case .exists(let record): Record(name: record.name, timeToLive: 0, data: record.data)
            case nil: nil
            }
        let options = OptionsRecord(options: [.updateLease(lease)])
        return Message(
            id: id, flags: .update, questions: [Question(name: zone, type: .soa)],
            answers: [prerequisite].compactMap { $0 },
            authorities: changes, additionals: [options.record])
    }
}

extension MessageFlags {
    /// The opcode UPDATE (RFC 2136 §1.3).
    static let update = MessageFlags(rawValue: 5 << 11)
}

extension RecordClass {
    /// The class NONE (RFC 2136 §1.3).
    fileprivate static let absent = RecordClass(rawValue: 254)
}

extension Record {
    /// The change that deletes all records of the name (RFC 2136 §2.5.3).
    fileprivate static func deletingAll(_ name: Name) -> Record {
        Record(name: name, recordClass: .any, timeToLive: 0, data: .other(.any, []))
    }

    /// The change that deletes this record (RFC 2136 §2.5.4).
    fileprivate var deleting: Record { Record(name: name, recordClass: .absent, timeToLive: 0, data: data) }
}
