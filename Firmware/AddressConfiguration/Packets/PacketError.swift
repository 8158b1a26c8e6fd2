/// The reason why bytes from the link are not valid, and the position.
public struct PacketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The offset in bytes from the start of the decoded bytes.
    public let offset: Int
    /// The kind of error.
    public let reason: Reason

    /// A kind of error, with the value that was found.
    public enum Reason: Hashable, Sendable {
        /// The data ends before a field of `needed` bytes.
        case truncated(needed: Int)
        /// The message exceeds the limit in bytes.
        case tooLong(limit: Int)
        /// The packet has a different version of the Internet Protocol.
        case version(UInt8)
        /// A length field contradicts the available bytes, or is shorter than its own header.
        case length(Int)
        /// The checksum over header or datagram is not zero (RFC 1071).
        case checksum
        /// The packet is a fragment. DHCP packets are never fragmented, and reassembly is the kernel's task.
        case fragment
        /// The packet has a different transport protocol.
        case transport(UInt8)
        /// The UDP destination port is not one of DHCP's (67 and 68).
        case port(UInt16)
        /// The packet is not for Ethernet.
        case hardwareType(UInt16)
        /// The packet is not for IPv4 addresses.
        case protocolType(UInt16)
        /// The length of an address does not match its kind.
        case addressLength(UInt8)
        /// The operation is neither request nor reply.
        case operation(UInt16)
        /// The type or the code of an ICMPv6 message is not that of a neighbour solicitation or advertisement.
        case neighborMessage(type: UInt8, code: UInt8)
        /// The hop limit shows that a router forwarded the packet (RFC 4861 §7.1).
        case hopLimit(UInt8)
        /// An option has no length, or is longer than the message (RFC 4861 §4.6).
        case optionLength(UInt8)
        /// The packet has more extension headers than a host sends.
        case tooManyHeaders
        /// The options do not begin with the magic cookie of RFC 2131 §3, for example in BOOTP.
        case cookie(UInt32)
    }

    package init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }

    public var description: String { "byte \(offset): \(reason)" }
}
