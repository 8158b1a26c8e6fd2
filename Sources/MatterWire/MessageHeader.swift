/// The header of a message (Matter 4.4.1), which is never encrypted.
public struct MessageHeader: Hashable, Sendable {
    /// The destination that a message names.
    public enum Destination: Hashable, Sendable {
        /// No destination, as in secured unicast messages.
        case none
        /// A node id.
        case node(UInt64)
        /// A group id.
        case group(UInt16)
    }

    /// The session id that the receiver chose, or 0 for a message that is not secured.
    public var sessionID: UInt16
    /// The message counter.
    public var counter: UInt32
    /// The source node id, or nil if the message has none.
    public var source: UInt64?
    /// The destination.
    public var destination: Destination
    /// True for a group session (session type 1), false for a unicast session (session type 0).
    public var isGroupSession: Bool
    /// True for a control message, which has separate counters (C flag).
    public var isControl: Bool
    /// True if the header fields after the security flags are obfuscated (P flag).
    public var hasPrivacy: Bool
    /// The received security flags that this implementation does not use: message extensions and reserved bits.
    private var otherFlags: UInt8 = 0

    private static let privacyFlag: UInt8 = 0x80
    private static let controlFlag: UInt8 = 0x40
    private static let extensionsFlag: UInt8 = 0x20
    private static let sourceFlag: UInt8 = 0x04

    /// Creates a header.
    public init(
        sessionID: UInt16, counter: UInt32, source: UInt64? = nil, destination: Destination = .none,
        isGroupSession: Bool = false, isControl: Bool = false, hasPrivacy: Bool = false
    ) {
        (self.sessionID, self.counter, self.source, self.destination) = (sessionID, counter, source, destination)
        (self.isGroupSession, self.isControl, self.hasPrivacy) = (isGroupSession, isControl, hasPrivacy)
    }

    /// Decodes the header of a message and skips message extensions.
    ///
    /// - Returns: The header; its bytes, which are authenticated together with the rest; and the rest: the protocol
    ///   header and the payload, which are encrypted if the session id is not 0.
    /// - Throws: ``MatterError`` if the header is not valid or its version is not 0.
    public static func decode(
        _ bytes: [UInt8]
    ) throws(MatterError) -> (header: MessageHeader, headerBytes: ArraySlice<UInt8>, rest: ArraySlice<UInt8>) {
        var reader = ByteReader(bytes[...], "message header")
        let flags = try reader.integer(UInt8.self)
        guard flags >> 4 == 0 else { throw .unsupported("message header: version \(flags >> 4)") }
        let sessionID = try reader.integer(UInt16.self)
        let security = try reader.integer(UInt8.self)
        guard security & 3 < 2 else { throw .invalid("message header: session type \(security & 3) is reserved") }
        let counter = try reader.integer(UInt32.self)
        let source = flags & sourceFlag == 0 ? nil : try reader.integer(UInt64.self)
        let destination: Destination
        switch flags & 3 {
        case 0: destination = .none
        case 1: destination = .node(try reader.integer(UInt64.self))
        case 2: destination = .group(try reader.integer(UInt16.self))
        default: throw .invalid("message header: destination size 3 is reserved")
        }
        if security & extensionsFlag != 0 { try reader.bytes(Int(try reader.integer(UInt16.self))) }
        var header = MessageHeader(
            sessionID: sessionID, counter: counter, source: source, destination: destination,
            isGroupSession: security & 3 == 1, isControl: security & controlFlag != 0,
            hasPrivacy: security & privacyFlag != 0)
        header.otherFlags = security & 0x3C
        return (header, bytes.prefix(bytes.count - reader.rest.count), reader.rest)
    }

    /// The encoded header, without message extensions.
    public var encoded: [UInt8] {
        var flags: UInt8 = source == nil ? 0 : Self.sourceFlag
        switch destination {
        case .none: break
        case .node: flags |= 1
        case .group: flags |= 2
        }
        var bytes = [flags]
        bytes.reserveCapacity(24)
        bytes.append(littleEndian: sessionID)
        bytes.append(usedFlags)
        bytes.append(littleEndian: counter)
        if let source { bytes.append(littleEndian: source) }
        switch destination {
        case .none: break
        case .node(let node): bytes.append(littleEndian: node)
        case .group(let group): bytes.append(littleEndian: group)
        }
        return bytes
    }

    /// The security flags, which are the first byte of the nonce (Matter 4.8.1.1). For a decoded header, these are the
    /// received flags.
    public var securityFlags: UInt8 { usedFlags | otherFlags }

    private var usedFlags: UInt8 {
        (hasPrivacy ? Self.privacyFlag : 0) | (isControl ? Self.controlFlag : 0) | (isGroupSession ? 1 : 0)
    }
}
