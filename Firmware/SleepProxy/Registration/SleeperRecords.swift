import DNSWire
import MulticastDNS
import ServiceDiscovery

/// The records of a registration whose form and consistency were checked. Every target is a name of the same host, so
/// that a registration cannot publish anything about other hosts.
struct SleeperRecords: Hashable, Sendable {
    /// The records without duplicates. Unique ones have the cache-flush bit.
    let records: [Record]
    /// The names of unique records in their order, those with addresses first.
    let names: [Name]
    /// The name of the host: the first one with an address.
    let host: Name
    /// The addresses in their order.
    let addresses: [IPAddress]
    /// The ports of the services.
    let ports: Set<ServicePort>

    /// A port of a transport protocol.
    struct ServicePort: Hashable, Sendable {
        let isTCP: Bool
        let number: UInt16
    }

    /// The domain of multicast DNS.
    private static let domain: Name = "local"
    /// The domains of reverse mapping.
    private static let reverseV4: Name = "in-addr.arpa"
    private static let reverseV6: Name = "ip6.arpa"
    /// The name under which hosts list their service types (RFC 6763 §9).
    private static let enumeration: Name = "_services._dns-sd._udp.local"
    private static let connections: Name = "_tcp.local"
    private static let null = RecordType(rawValue: 10)
    /// The types that a registration may contain.
    private static let types: Set<RecordType> = [.a, .aaaa, .ptr, .srv, .txt, .hinfo]
    /// Types that are ignored: the responder writes NSEC records itself, and Apple's hosts describe open TCP connections
    /// in NULL records, which this proxy does not keep alive.
    private static let ignored: Set<RecordType> = [.nsec, null]

    /// Checks the records and merges them with those of an earlier message of the same registration.
    init(_ received: [Record], after earlier: SleeperRecords?, limits: SleepProxyLimits) throws(RefusalReason) {
        var records = earlier?.records ?? []
        var known = SharedNames(records)
        for record in received where !Self.ignored.contains(record.type) {
            let record = known.sharing(try Self.checked(record))
            if !records.contains(where: { $0.hasSameContent(as: record) }) { records.append(record) }
            guard records.count <= limits.records else { throw .tooManyRecords }
        }
        let size = records.reduce(0) { $0 + $1.name.bytes.count + $1.data.uncompressedBytes.count }
        guard size <= limits.bytes else { throw .tooManyBytes }
        self.records = records
        let named = Self.uniqueNames(records)
        let addresses = Self.addresses(records)
        guard let host = records.first(where: { $0.address != nil })?.name else { throw .noAddress }
        guard addresses.count <= limits.addresses else { throw .tooManyAddresses }
        guard named.count <= limits.names else { throw .tooManyNames }
        let ports = Self.ports(records)
        guard ports.count <= limits.ports else { throw .tooManyPorts }
        (names, self.host, self.addresses, self.ports) = (named, host, addresses, ports)
        try checkTargets()
    }

    /// Checks one record, and sets the cache-flush bit as its type requires.
    private static func checked(_ record: Record) throws(RefusalReason) -> Record {
        guard record.recordClass == .internet else { throw .recordClass }
        guard types.contains(record.type) else { throw .recordType }
        guard record.timeToLive > 0 else { throw .lifetime }
        var record = record
        record.timeToLive = min(record.timeToLive, RFC6762.otherTimeToLive)
        let isReverse = record.name.isWithin(reverseV4) || record.name.isWithin(reverseV6)
        record.isCacheFlush = record.type != .ptr || isReverse
        guard isReverse ? record.type == .ptr : record.name.isWithin(domain) else { throw .domain }
        return record
    }

    private static func uniqueNames(_ records: [Record]) -> [Name] {
        var seen: Set<Name> = []
        let unique = records.filter(\.isCacheFlush)
        return (unique.filter { $0.address != nil } + unique).map(\.name).filter { seen.insert($0).inserted }
    }

    private static func addresses(_ records: [Record]) -> [IPAddress] {
        var seen: Set<IPAddress> = []
        return records.compactMap(\.address).filter { seen.insert($0).inserted }
    }

    private static func ports(_ records: [Record]) -> Set<ServicePort> {
        var ports: Set<ServicePort> = []
        for record in records {
            guard case .srv(_, _, let number, _) = record.data, number != 0, number != RFC6762.port else { continue }
            ports.insert(ServicePort(isTCP: record.name.isWithin(connections), number: number))
        }
        return ports
    }

    /// Checks that each SRV record names a host with an address, each PTR record a unique name, each reverse mapping an
    /// own address.
    private func checkTargets() throws(RefusalReason) {
        let hosts = Set(records.filter { $0.address != nil }.map(\.name))
        let unique = Set(names)
        let reverse = Set(addresses.compactMap(\.reverseName))
        for record in records {
            switch record.data {
            case .srv(_, _, _, let target) where !hosts.contains(target): throw .foreignTarget
            case .ptr(let target) where record.isCacheFlush:
                guard hosts.contains(target), reverse.contains(record.name) else { throw .foreignTarget }
            case .ptr(let target) where record.name == Self.enumeration:
                guard target.isWithin(Self.domain) else { throw .foreignTarget }
            case .ptr(let target) where !unique.contains(target): throw .foreignTarget
            case .a, .aaaa, .ptr, .srv, .txt, .nsec, .other: break
            }
        }
    }

    /// The names of a registration. Most names occur in several records, which share the storage of the name.
    private struct SharedNames {
        private var names: Set<Name> = []

        init(_ records: [Record]) { for record in records { _ = sharing(record) } }

        /// Returns the record with names that share the storage of equal names.
        mutating func sharing(_ record: Record) -> Record {
            var record = record
            record.name = shared(record.name)
            switch record.data {
            case .ptr(let target): record.data = .ptr(shared(target))
            case .srv(let priority, let weight, let port, let target):
                record.data = .srv(priority: priority, weight: weight, port: port, target: shared(target))
            case .a, .aaaa, .txt, .nsec, .other: break
            }
            return record
        }

        private mutating func shared(_ name: Name) -> Name { names.insert(name).memberAfterInsert }
    }

    /// A group of records, and the host name that it needs.
    struct Group: Hashable, Sendable {
        var name: Name
        var unique: [Record]
        var shared: [Record] = []
        var answeredOnly: [Record] = []
        var requiredHost: Name?
    }

    /// The records by their unique names. Shared records belong to the group of their target. A service type is listed
    /// by the first service of that type.
    var groups: [Group] {
        var groups = names.map { name in
            Group(name: name, unique: records.filter { $0.isCacheFlush && $0.name == name })
        }
        var places: [Name: Int] = [:]
        for (place, group) in groups.enumerated() { places[group.name] = place }
        var types: [Name: Int] = [:]
        for record in records {
            guard case .ptr(let target) = record.data, !record.isCacheFlush, record.name != Self.enumeration,
                let place = places[target]
            else { continue }
            groups[place].shared.append(record)
            if types[record.name] == nil { types[record.name] = place }
        }
        for record in records where record.name == Self.enumeration {
            guard case .ptr(let target) = record.data, let place = types[target] else { continue }
            groups[place].answeredOnly.append(record)
        }
        for place in groups.indices { groups[place].requiredHost = Self.requiredHost(groups[place]) }
        return groups
    }

    private static func requiredHost(_ group: Group) -> Name? {
        for record in group.unique {
            switch record.data {
            case .srv(_, _, _, let target) where target != group.name: return target
            case .ptr(let target): return target
            case .a, .aaaa, .srv, .txt, .nsec, .other: break
            }
        }
        return nil
    }
}

extension Record {
    /// The address in an A or AAAA record.
    var address: IPAddress? {
        switch data {
        case .a(let address): .v4(address)
        case .aaaa(let address): .v6(address)
        case .ptr, .srv, .txt, .nsec, .other: nil
        }
    }
}

extension Name {
    /// Returns true if this name is below the other one.
    func isWithin(_ domain: Name) -> Bool {
        let extra = bytes.count - domain.bytes.count
        guard extra > 0 else { return false }
        // The suffix must begin at a label.
        var offset = 0
        while offset < extra, bytes[offset] != 0 { offset += 1 + Int(bytes[offset]) }
        guard offset == extra else { return false }
        let letters: ClosedRange<UInt8> = 0x61...0x7A
        return zip(bytes[extra...], domain.bytes).allSatisfy { (left: UInt8, right: UInt8) -> Bool in
            left == right || (left ^ right == 0x20 && letters.contains(left | 0x20))
        }
    }
}

extension IPAddress {
    /// The name of the reverse mapping (RFC 1035 §3.5, RFC 3596 §2.5).
    var reverseName: Name? {
        let labels: [String] =
            switch self {
            case .v4(let address): address.bytes.reversed().map { String($0) } + ["in-addr", "arpa"]
            case .v6(let address):
                address.bytes.reversed().flatMap { [String($0 & 0xF, radix: 16), String($0 >> 4, radix: 16)] }
                    + ["ip6", "arpa"]
            }
        return try? Name(labels: labels.map { Array($0.utf8) })
    }
}
