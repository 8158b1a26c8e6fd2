/// Identifies an exchange of a ``MessageLayer``. An id is never reused.
public struct ExchangeID: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number of the exchange. It ascends in the order in which exchanges begin.
    public let rawValue: UInt64

    /// Creates an id from a number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public var description: String { "exchange \(rawValue)" }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A message that a ``MessageLayer`` received, decrypted, and checked for duplicates.
public struct IncomingMessage: Hashable, Sendable {
    /// The exchange that answers are sent on.
    public var exchange: ExchangeID
    /// The session that the message was received on.
    public var session: SessionContext
    /// One of `MatterProtocol`.
    public var protocolID: UInt16
    /// The opcode within the protocol.
    public var opcode: UInt8
    /// The payload after the protocol header.
    public var payload: [UInt8]
    /// True if the peer opened the exchange with this message.
    public var isFirst: Bool

    /// Creates a message.
    public init(
        exchange: ExchangeID, session: SessionContext, protocolID: UInt16, opcode: UInt8, payload: [UInt8],
        isFirst: Bool
    ) {
        (self.exchange, self.session, self.protocolID) = (exchange, session, protocolID)
        (self.opcode, self.payload, self.isFirst) = (opcode, payload, isFirst)
    }
}
