/// The header of the protocol message inside a message (Matter 4.4.3).
public struct ProtocolHeader: Hashable, Sendable {
    /// True if the sender opened the exchange (I flag).
    public var isInitiator: Bool
    /// True if the sender requests an acknowledgement (R flag).
    public var needsAcknowledgement: Bool
    /// The message counter that this message acknowledges, or nil (A flag).
    public var acknowledges: UInt32?
    /// The opcode within the protocol.
    public var opcode: UInt8
    /// The exchange id.
    public var exchange: UInt16
    /// The protocol: one of ``MatterProtocol``. Its vendor is 0.
    public var protocolID: UInt16

    private static let initiatorFlag: UInt8 = 0x01
    private static let acknowledgementFlag: UInt8 = 0x02
    private static let reliableFlag: UInt8 = 0x04
    private static let extensionsFlag: UInt8 = 0x08
    private static let vendorFlag: UInt8 = 0x10

    /// Creates a header.
    public init(
        isInitiator: Bool, needsAcknowledgement: Bool, acknowledges: UInt32? = nil, opcode: UInt8, exchange: UInt16,
        protocolID: UInt16
    ) {
        (self.isInitiator, self.needsAcknowledgement) = (isInitiator, needsAcknowledgement)
        (self.acknowledges, self.opcode, self.exchange) = (acknowledges, opcode, exchange)
        self.protocolID = protocolID
    }

    /// Decodes the header of a protocol message and skips secured extensions.
    ///
    /// - Throws: ``MatterError`` if the header is not valid, or the protocol belongs to a vendor.
    public static func decode(
        _ bytes: ArraySlice<UInt8>
    ) throws(MatterError) -> (header: ProtocolHeader, payload: ArraySlice<UInt8>) {
        var reader = ByteReader(bytes, "protocol header")
        let flags = try reader.integer(UInt8.self)
        let opcode = try reader.integer(UInt8.self)
        let exchange = try reader.integer(UInt16.self)
        let protocolID = try reader.integer(UInt16.self)
        if flags & vendorFlag != 0 {
            let vendor = try reader.integer(UInt16.self)
            guard vendor == 0 else { throw .unsupported("protocol header: protocol of vendor \(vendor)") }
        }
        let acknowledges = flags & acknowledgementFlag == 0 ? nil : try reader.integer(UInt32.self)
        if flags & extensionsFlag != 0 { try reader.bytes(Int(try reader.integer(UInt16.self))) }
        let header = ProtocolHeader(
            isInitiator: flags & initiatorFlag != 0, needsAcknowledgement: flags & reliableFlag != 0,
            acknowledges: acknowledges, opcode: opcode, exchange: exchange, protocolID: protocolID)
        return (header, reader.rest)
    }

    /// The encoded header.
    public var encoded: [UInt8] {
        let flags =
            (isInitiator ? Self.initiatorFlag : 0) | (needsAcknowledgement ? Self.reliableFlag : 0)
            | (acknowledges == nil ? 0 : Self.acknowledgementFlag)
        var bytes = [flags, opcode]
        bytes.reserveCapacity(10)
        bytes.append(littleEndian: exchange)
        bytes.append(littleEndian: protocolID)
        if let acknowledges { bytes.append(littleEndian: acknowledges) }
        return bytes
    }
}

/// The ids of the standard protocols (Matter 4.4.3.4).
public enum MatterProtocol {
    /// Handshakes, acknowledgements and status reports.
    public static let secureChannel: UInt16 = 0
    /// Reads, writes, commands and subscriptions.
    public static let interactionModel: UInt16 = 1
    /// Bulk data exchange.
    public static let bulkData: UInt16 = 2
    /// User-directed commissioning.
    public static let userDirectedCommissioning: UInt16 = 3
}

/// The opcodes of the secure channel protocol (Matter 4.11.1).
public enum SecureChannelOpcode: UInt8, Hashable, Sendable {
    /// Requests the sender's group message counter.
    case messageCounterSyncRequest = 0x00
    /// Answers ``messageCounterSyncRequest``.
    case messageCounterSyncResponse = 0x01
    /// Acknowledges a message, without a payload.
    case standaloneAcknowledgement = 0x10
    /// Begins PASE.
    case pbkdfParamRequest = 0x20
    /// Carries the parameters of the key derivation.
    case pbkdfParamResponse = 0x21
    /// Carries the initiator's share pA.
    case pake1 = 0x22
    /// Carries the responder's share pB and confirmation cB.
    case pake2 = 0x23
    /// Carries the initiator's confirmation cA.
    case pake3 = 0x24
    /// Begins CASE.
    case sigma1 = 0x30
    /// Carries the responder's key and encrypted identity.
    case sigma2 = 0x31
    /// Carries the initiator's encrypted identity.
    case sigma3 = 0x32
    /// Resumes a CASE session.
    case sigma2Resume = 0x33
    /// Carries a ``StatusReport``.
    case statusReport = 0x40
}
