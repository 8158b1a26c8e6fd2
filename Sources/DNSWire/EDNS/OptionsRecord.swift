/// The OPT record of a message (RFC 6891 §6.1). Its data is a list of options about the message, not data about a name.
public struct OptionsRecord: Hashable, Sendable {
    /// The longest UDP payload in bytes that the sender accepts. The record has this number in its class field.
    public var payloadSize: UInt16
    /// The upper eight bits of a response code of twelve bits.
    public var extendedResponseCode: UInt8
    /// The version of EDNS; 0 is the only one that exists.
    public var version: UInt8
    /// The flags; the top bit is DO.
    public var flags: UInt16
    /// The options in their order.
    public var options: [EDNSOption]

    /// A payload size in bytes that fits into one Ethernet frame with an IPv6 and a UDP header.
    public static let usualPayloadSize: UInt16 = 1440

    /// Creates a record.
    public init(
        payloadSize: UInt16 = Self.usualPayloadSize, extendedResponseCode: UInt8 = 0, version: UInt8 = 0,
        flags: UInt16 = 0, options: [EDNSOption]
    ) {
        self.payloadSize = payloadSize
        self.extendedResponseCode = extendedResponseCode
        self.version = version
        self.flags = flags
        self.options = options
    }

    /// Decodes an OPT record, or returns nil for a record of any other type.
    ///
    /// - Throws: ``WireError`` if an option is truncated or has a wrong length. The offset counts from the start of the
    ///   record's data.
    public init?(_ record: Record) throws(WireError) {
        guard case .other(.opt, let bytes) = record.data else { return nil }
        payloadSize = record.recordClass.rawValue | (record.isCacheFlush ? 0x8000 : 0)
        extendedResponseCode = UInt8(truncatingIfNeeded: record.timeToLive >> 24)
        version = UInt8(truncatingIfNeeded: record.timeToLive >> 16)
        flags = UInt16(truncatingIfNeeded: record.timeToLive)
        options = try EDNSOption.options(in: bytes)
    }

    /// Returns the record. The bits of the payload size are split into the 15 bits of the class and the top bit, which
    /// is the cache-flush bit of other records, so the encoder writes the field unchanged.
    public var record: Record {
        let high = UInt32(extendedResponseCode) << 24 | UInt32(version) << 16
        return Record(
            name: .root, recordClass: RecordClass(rawValue: payloadSize), isCacheFlush: payloadSize & 0x8000 != 0,
            timeToLive: high | UInt32(flags), data: .other(.opt, options.flatMap(\.encoded)))
    }

    /// The first Owner option, or nil.
    public var owner: OwnerOption? {
        for case .owner(let owner) in options { return owner }
        return nil
    }

    /// The first Update Lease option, or nil.
    public var updateLease: UpdateLeaseOption? {
        for case .updateLease(let lease) in options { return lease }
        return nil
    }
}

extension Message {
    /// Decodes the message's OPT record, or returns nil if it has none.
    public func optionsRecord() throws(WireError) -> OptionsRecord? {
        for record in additionals where record.type == .opt { return try OptionsRecord(record) }
        return nil
    }
}

/// One option of an OPT record (RFC 6891 §6.1.2).
public enum EDNSOption: Hashable, Sendable {
    /// The identity of a host that sleeps or has been awakened (draft-cheshire-edns0-owner-option).
    case owner(OwnerOption)
    /// The lifetime of an update's records (RFC 9664).
    case updateLease(UpdateLeaseOption)
    /// Any other option, and an Owner option of a later version.
    case other(code: UInt16, [UInt8])

    /// Decodes the options of a record.
    static func options(in bytes: [UInt8]) throws(WireError) -> [EDNSOption] {
        var reader = WireReader(bytes)
        var options: [EDNSOption] = []
        while reader.remaining > 0 {
            let code = try reader.readUInt16()
            let length = Int(try reader.readUInt16())
            let start = reader.offset
            options.append(try EDNSOption(code: code, data: Array(try reader.readBytes(length)), offset: start))
        }
        return options
    }

    private init(code: UInt16, data: [UInt8], offset: Int) throws(WireError) {
        switch code {
        case OwnerOption.code where data.first.map { $0 != OwnerOption.version } ?? false:
            self = .other(code: code, data)
        case OwnerOption.code:
            guard let owner = OwnerOption(data: data) else {
                throw WireError(offset: offset, reason: .optionLength(code: code, actual: data.count))
            }
            self = .owner(owner)
        case UpdateLeaseOption.code:
            guard let lease = UpdateLeaseOption(data: data) else {
                throw WireError(offset: offset, reason: .optionLength(code: code, actual: data.count))
            }
            self = .updateLease(lease)
        default:
            self = .other(code: code, data)
        }
    }

    /// The option with its code and length.
    var encoded: [UInt8] {
        let (code, data) =
            switch self {
            case .owner(let owner): (OwnerOption.code, owner.data)
            case .updateLease(let lease): (UpdateLeaseOption.code, lease.data)
            case .other(let code, let data): (code, data)
            }
        // Options that were decoded fit. The data of an option that a program creates is limited by its type.
        let length = UInt16(clamping: data.count)
        return bigEndian(code) + bigEndian(length) + data.prefix(Int(length))
    }
}
