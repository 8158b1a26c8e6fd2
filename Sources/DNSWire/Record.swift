/// The type of a resource record (RFC 1035 §3.2.2 and the registry of IANA).
public struct RecordType: RawRepresentable, Hashable, Sendable, Comparable {
    /// The number of the type.
    public let rawValue: UInt16
    /// Creates a type from its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// An IPv4 address (RFC 1035 §3.4.1).
    public static let a = RecordType(rawValue: 1)
    /// An alias: the records are those of another name (RFC 1035 §3.3.1).
    public static let cname = RecordType(rawValue: 5)
    /// The properties of a zone (RFC 1035 §3.3.13).
    public static let soa = RecordType(rawValue: 6)
    /// A pointer to another name (RFC 1035 §3.3.12).
    public static let ptr = RecordType(rawValue: 12)
    /// The processor and the operating system of a host (RFC 1035 §3.3.2).
    public static let hinfo = RecordType(rawValue: 13)
    /// Texts, such as the attributes of a service (RFC 1035 §3.3.14).
    public static let txt = RecordType(rawValue: 16)
    /// An IPv6 address (RFC 3596 §2.1).
    public static let aaaa = RecordType(rawValue: 28)
    /// The host and the port of a service (RFC 2782).
    public static let srv = RecordType(rawValue: 33)
    /// The extension record of a message (RFC 6891 §6.1).
    public static let opt = RecordType(rawValue: 41)
    /// The types that exist for a name (RFC 4034 §4, RFC 6762 §6.1).
    public static let nsec = RecordType(rawValue: 47)
    /// Every type of the name (RFC 1035 §3.2.3, QTYPE "*"). Valid in questions only.
    public static let any = RecordType(rawValue: 255)

    public static func < (left: RecordType, right: RecordType) -> Bool { left.rawValue < right.rawValue }
}

/// The class of a record or question, without the top bit, which has a different meaning in RFC 6762. In an OPT record
/// this field contains a payload size instead.
public struct RecordClass: RawRepresentable, Hashable, Sendable {
    /// The number of the class: 15 bits.
    public let rawValue: UInt16
    /// Creates a class from the lower 15 bits of a number.
    public init(rawValue: UInt16) { self.rawValue = rawValue & 0x7FFF }

    /// The class IN (RFC 1035 §3.2.4).
    public static let internet = RecordClass(rawValue: 1)
    /// Every class (RFC 1035 §3.2.5). Valid in questions only.
    public static let any = RecordClass(rawValue: 255)
}

/// One resource record.
public struct Record: Hashable, Sendable {
    /// The name to which the record belongs.
    public var name: Name
    /// The class.
    public var recordClass: RecordClass
    /// The top bit of the class (RFC 6762 §10.2): this record set replaces the cached one.
    public var isCacheFlush: Bool
    /// The time to live in seconds.
    public var timeToLive: UInt32
    /// The data; its case determines the type.
    public var data: RecordData

    /// Creates a record.
    public init(
        name: Name, recordClass: RecordClass = .internet, isCacheFlush: Bool = false, timeToLive: UInt32,
        data: RecordData
    ) {
        self.name = name
        self.recordClass = recordClass
        self.isCacheFlush = isCacheFlush
        self.timeToLive = timeToLive
        self.data = data
    }

    /// The type of the data.
    public var type: RecordType { data.type }

    /// The name to which a CNAME record leads, if the message was decoded with `expandsNames`; nil for other types.
    public var alias: Name? {
        guard case .other(.cname, let bytes) = data else { return nil }
        var reader = WireReader(bytes)
        guard let name = try? reader.readName(), reader.remaining == 0 else { return nil }
        return name
    }

    /// The primary server of the zone in an SOA record, if the message was decoded with `expandsNames`; nil for other
    /// types.
    public var primaryServer: Name? {
        guard case .other(.soa, let bytes) = data else { return nil }
        var reader = WireReader(bytes)
        return try? reader.readName()
    }

    /// Returns true if both records have the same name, class and data. Ignores time to live and cache-flush bit.
    public func hasSameContent(as other: Record) -> Bool {
        data == other.data && recordClass == other.recordClass && name == other.name
    }
}

/// The data of a record, by type. Types without their own case are kept as bytes.
public enum RecordData: Hashable, Sendable {
    case a(IPv4Address)
    case aaaa(IPv6Address)
    case ptr(Name)
    /// The host and the port of a service (RFC 2782).
    case srv(priority: UInt16, weight: UInt16, port: UInt16, target: Name)
    /// Length-prefixed strings in their wire format (RFC 1035 §3.3.14).
    case txt([UInt8])
    /// The next name, and the types that exist for the record's name, ascending (RFC 4034 §4).
    case nsec(next: Name, types: [RecordType])
    /// The data of any other type, as bytes.
    case other(RecordType, [UInt8])

    /// Creates the data of an A or AAAA record.
    public init(_ address: IPAddress) {
        switch address {
        case .v4(let address): self = .a(address)
        case .v6(let address): self = .aaaa(address)
        }
    }

    /// The type of a record with this data.
    public var type: RecordType {
        switch self {
        case .a: .a
        case .aaaa: .aaaa
        case .ptr: .ptr
        case .srv: .srv
        case .txt: .txt
        case .nsec: .nsec
        case .other(let type, _): type
        }
    }

    /// The data on the wire without compression. A tiebreak compares these bytes (RFC 6762 §8.2).
    public var uncompressedBytes: [UInt8] {
        var buffer = WireBuffer(limit: Int(UInt16.max), compression: .none)
        buffer.append(self)
        return buffer.bytes
    }
}
