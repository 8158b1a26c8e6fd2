/// Why bytes from the link are not what they should be, and where.
public struct LinkWireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Bytes from the start of what was decoded.
    public let offset: Int
    public let reason: Reason

    public enum Reason: Hashable, Sendable {
        /// It ends before a field of `needed` bytes.
        case truncated(needed: Int)
        /// More bytes than a message may have here.
        case tooLong(limit: Int)
        /// Not IP of version 4.
        case version(UInt8)
        /// A length that contradicts what is there, or is shorter than its own header.
        case length(Int)
        /// The checksum over header or datagram is not zero (RFC 1071).
        case checksum
        /// A part of a packet: DHCP's packets are never in parts, and to join them is the kernel's work.
        case fragment
        /// Not UDP.
        case transport(UInt8)
        /// UDP, but not between the ports of DHCP.
        case port(UInt16)
        /// Not about Ethernet cards.
        case hardwareType(UInt16)
        /// Not about IPv4 addresses.
        case protocolType(UInt16)
        /// An address of another length than its kind has.
        case addressLength(UInt8)
        /// Neither request nor reply.
        case operation(UInt16)
        /// The options do not begin with the magic cookie of RFC 2131 §3: BOOTP, or something else.
        case cookie(UInt32)
    }

    public var description: String { "byte \(offset): \(reason)" }
}
