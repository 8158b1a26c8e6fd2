/// The result of a handshake, or another notice about a session (Matter appendix D).
public struct StatusReport: Hashable, Sendable, CustomStringConvertible {
    /// The general code: 0 success, 1 failure, 8 busy, and more (Matter appendix D.3.1).
    public var generalCode: UInt16
    /// The protocol that defines ``protocolCode``, with the vendor in the upper 16 bits.
    public var protocolID: UInt32
    /// The code within the protocol.
    public var protocolCode: UInt16
    /// Data that depends on the code.
    public var data: [UInt8]

    /// Creates a report of the secure channel protocol, or of the given one.
    public init(generalCode: UInt16, protocolID: UInt32 = 0, protocolCode: UInt16, data: [UInt8] = []) {
        (self.generalCode, self.protocolID) = (generalCode, protocolID)
        (self.protocolCode, self.data) = (protocolCode, data)
    }

    /// Decodes a report.
    ///
    /// - Throws: ``MatterError`` if there are fewer than 8 bytes.
    public init(decoding bytes: some Collection<UInt8>) throws(MatterError) {
        var reader = ByteReader(Array(bytes)[...], "status report")
        generalCode = try reader.integer(UInt16.self)
        protocolID = try reader.integer(UInt32.self)
        protocolCode = try reader.integer(UInt16.self)
        data = Array(reader.rest)
    }

    /// The encoded report.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: generalCode)
        bytes.append(littleEndian: protocolID)
        bytes.append(littleEndian: protocolCode)
        return bytes + data
    }

    /// True if the general code is success.
    public var isSuccess: Bool { generalCode == 0 }

    /// A handshake succeeded.
    public static let sessionEstablished = StatusReport(generalCode: 0, protocolCode: 0)
    /// The responder of CASE does not know the fabric that the initiator named.
    public static let noSharedTrustRoots = StatusReport(generalCode: 1, protocolCode: 1)
    /// A handshake message is not valid.
    public static let invalidParameter = StatusReport(generalCode: 1, protocolCode: 2)
    /// The sender ends the session.
    public static let closeSession = StatusReport(generalCode: 0, protocolCode: 3)

    /// The responder has no free resources.
    ///
    /// - Parameter wait: the time in milliseconds after which the initiator may try again.
    public static func busy(wait: UInt16) -> StatusReport {
        var report = StatusReport(generalCode: 8, protocolCode: 4)
        report.data.append(littleEndian: wait)
        return report
    }

    public var description: String {
        "status \(generalCode) of protocol \(protocolID) with code \(protocolCode)"
    }
}
