public import DNSWire

/// A host's request to a sleep proxy to represent it: a DNS Update (RFC 2136) with the host's records in the update
/// section, and an OPT record with Update Lease and Owner options.
public struct SleepRegistration: Hashable, Sendable {
    /// The identifier, which the answer repeats.
    public var id: UInt16
    /// The records to publish. The cache-flush bit marks unique record sets, as in multicast DNS.
    public var records: [Record]
    /// The host and the data to wake it.
    public var owner: OwnerOption
    /// The requested lifetime in seconds.
    public var lease: UInt32

    /// The lifetime in seconds that hosts usually request.
    public static let usualLease: UInt32 = 7200
    /// OPCODE 5 of the header (RFC 2136 §2.2).
    static let updateOperation: UInt16 = 5
    /// The size in bytes of a message that fits into one frame.
    public static let messageLimit = Int(OptionsRecord.usualPayloadSize)

    /// Creates a registration.
    public init(id: UInt16, records: [Record], owner: OwnerOption, lease: UInt32 = Self.usualLease) {
        self.id = id
        self.records = records
        self.owner = owner
        self.lease = lease
    }

    /// Decodes a datagram. Checks the form of the message only; the proxy decides about its content.
    public init(decoding bytes: [UInt8]) throws(SleepRegistrationError) {
        let message: Message
        let options: OptionsRecord?
        do throws(WireError) {
            message = try Message(decoding: bytes)
            options = try message.optionsRecord()
        } catch {
            throw .malformed(error)
        }
        guard message.flags.operation == Self.updateOperation, !message.flags.contains(.response) else {
            throw .notAnUpdate
        }
        // Apple's hosts send no zone. RFC 2136 requires one, and forbids several.
        guard message.questions.count <= 1, message.answers.isEmpty else { throw .sections }
        guard let owner = options?.owner else { throw .missingOwner }
        guard let lease = options?.updateLease, lease.lease > 0 else { throw .missingLease }
        self.init(id: message.id, records: message.authorities, owner: owner, lease: lease.lease)
    }

    /// Encodes the registration in one message.
    public func encoded(limit: Int = Int(UInt16.max)) throws(MessageTooLong) -> [UInt8] {
        let options = OptionsRecord(options: [.updateLease(UpdateLeaseOption(lease: lease)), .owner(owner)])
        return try Message(
            id: id, flags: MessageFlags(rawValue: Self.updateOperation << 11), authorities: records,
            additionals: [options.record]
        ).encoded(limit: limit)
    }

    /// Splits the registration into messages of at most `limit` bytes. The proxy merges messages with the same owner and
    /// sequence number. The identifiers count upwards from ``id``, and the proxy answers each message. The address
    /// records must come first, because the proxy refuses services without a host.
    public func messages(limit: Int = Self.messageLimit) throws(MessageTooLong) -> [(id: UInt16, bytes: [UInt8])] {
        var messages: [(id: UInt16, bytes: [UInt8])] = []
        var part = SleepRegistration(id: id, records: [], owner: owner, lease: lease)
        var partBytes = try part.encoded(limit: limit)
        for record in records {
            part.records.append(record)
            if let bytes = try? part.encoded(limit: limit) {
                partBytes = bytes
                continue
            }
            if part.records.count > 1 {
                messages.append((part.id, partBytes))
                part.id &+= 1
            }
            part.records = [record]
            partBytes = try part.encoded(limit: limit)
        }
        return messages + [(part.id, partBytes)]
    }
}

/// The reasons why a datagram is not a registration.
public enum SleepRegistrationError: Error, Hashable, Sendable {
    /// The bytes are not a DNS message, or an option is malformed.
    case malformed(WireError)
    /// The message is not a DNS Update request.
    case notAnUpdate
    /// The message has several zones, or prerequisites.
    case sections
    /// The Owner option is missing.
    case missingOwner
    /// The Update Lease option is missing or zero.
    case missingLease
}

/// A sleep proxy's answer to a registration.
public struct SleepRegistrationAnswer: Hashable, Sendable {
    /// The response codes that a sleep proxy sends (RFC 1035 §4.1.1, RFC 2136 §2.2).
    public enum Code: UInt16, Hashable, Sendable {
        /// The proxy represents the host from now on.
        case success = 0
        /// The message is malformed.
        case formatError = 1
        /// The proxy cannot check the registration now.
        case serverFailure = 2
        /// The message is not an update.
        case notImplemented = 4
        /// The proxy does not represent this host, or not with these records.
        case refused = 5
        /// A different host has one of the names.
        case nameExists = 6
    }

    /// The identifier of the request.
    public var id: UInt16
    /// The response code, as a number because a host may receive any code.
    public var code: UInt16
    /// The granted lifetime in seconds, or nil in a refusal.
    public var lease: UInt32?

    /// The flags of a response to an update.
    private static let flags: UInt16 = 0x8000 | SleepRegistration.updateOperation << 11

    /// Creates an answer.
    public init(id: UInt16, code: Code, lease: UInt32? = nil) {
        self.id = id
        self.code = code.rawValue
        self.lease = lease
    }

    /// Decodes a datagram.
    public init(decoding bytes: [UInt8]) throws(SleepRegistrationError) {
        let message: Message
        do throws(WireError) {
            message = try Message(decoding: bytes)
            lease = try message.optionsRecord()?.updateLease?.lease
        } catch {
            throw .malformed(error)
        }
        guard message.flags.contains(.response), message.flags.operation == SleepRegistration.updateOperation else {
            throw .notAnUpdate
        }
        id = message.id
        code = message.flags.responseCode
    }

    /// True if the proxy represents the host from now on.
    public var isSuccess: Bool { code == Code.success.rawValue }

    /// The encoded message.
    public var encoded: [UInt8] {
        var encoder = MessageEncoder(limit: SleepRegistration.messageLimit)
        if let lease {
            let options = OptionsRecord(options: [.updateLease(UpdateLeaseOption(lease: lease))])
            precondition(encoder.append(options.record, to: .additional), "an OPT record of 23 bytes fits")
        }
        return encoder.finish(id: id, flags: MessageFlags(rawValue: Self.flags | code & 0xF))
    }
}
