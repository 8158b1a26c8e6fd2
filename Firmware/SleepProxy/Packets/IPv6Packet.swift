public import AddressConfiguration
public import DNSWire

/// An IPv6 packet (RFC 8200) without extension headers; those of received packets are skipped.
public struct IPv6Packet: Hashable, Sendable {
    /// The source address.
    public var source: IPv6Address
    /// The destination address.
    public var destination: IPv6Address
    /// The number of hops that the packet may still make.
    public var hopLimit: UInt8
    /// The protocol of the payload; 58 is ICMPv6.
    public var transport: UInt8
    /// The bytes after the headers.
    public var payload: [UInt8]

    /// The protocol number of ICMPv6.
    public static let icmp: UInt8 = 58
    private static let headerLength = 40
    /// Hop-by-hop options, routing and destination options, which precede the transport header.
    private static let extensions: Set<UInt8> = [0, 43, 60]
    private static let fragment: UInt8 = 44
    /// The limit of extension headers, so that a packet cannot consist of thousands of empty ones.
    private static let extensionLimit = 4

    /// Creates a packet.
    public init(source: IPv6Address, destination: IPv6Address, hopLimit: UInt8, transport: UInt8, payload: [UInt8]) {
        self.source = source
        self.destination = destination
        self.hopLimit = hopLimit
        self.transport = transport
        self.payload = payload
    }

    /// Decodes the bytes after the Ethernet header. Bytes after the packet's own length are padding.
    public init(decoding bytes: [UInt8]) throws(PacketError) {
        var reader = ByteReader(bytes)
        let version = try reader.readUInt8() >> 4
        guard version == 6 else { throw PacketError(offset: 0, reason: .version(version)) }
        _ = try reader.readBytes(3)
        let length = Int(try reader.readUInt16())
        var next = try reader.readUInt8()
        hopLimit = try reader.readUInt8()
        source = try reader.readIPv6Address()
        destination = try reader.readIPv6Address()
        guard length <= reader.remaining else {
            throw PacketError(offset: bytes.count, reason: .truncated(needed: length - reader.remaining))
        }
        reader = ByteReader(bytes, in: reader.offset..<(reader.offset + length))
        var skipped = 0
        while Self.extensions.contains(next) {
            skipped += 1
            guard skipped <= Self.extensionLimit else {
                throw PacketError(offset: reader.offset, reason: .tooManyHeaders)
            }
            next = try reader.readUInt8()
            _ = try reader.readBytes(6 + 8 * Int(try reader.readUInt8()))
        }
        guard next != Self.fragment else { throw PacketError(offset: reader.offset, reason: .fragment) }
        transport = next
        payload = Array(try reader.readBytes(reader.remaining))
    }

    /// The encoded packet. A payload of more than 65,535 bytes is a programming error.
    public var encoded: [UInt8] {
        precondition(payload.count <= UInt16.max, "a payload of \(payload.count) bytes")
        let version: [UInt8] = [0x60, 0, 0, 0]
        return version + networkOrder(UInt16(payload.count)) + [transport, hopLimit] + source.bytes + destination.bytes
            + payload
    }
}

extension ByteReader {
    /// Reads 16 bytes.
    mutating func readIPv6Address() throws(PacketError) -> IPv6Address {
        let high = try UInt64(readUInt32()) << 32 | UInt64(readUInt32())
        return IPv6Address(high: high, low: try UInt64(readUInt32()) << 32 | UInt64(readUInt32()))
    }
}

extension IPv6Address {
    /// "::": no address.
    static let unspecified = IPv6Address(high: 0, low: 0)
    /// ff02::1: all hosts on the link.
    static let allNodes = IPv6Address(high: 0xFF02 << 48, low: 1)

    /// The group to which a neighbour solicitation for this address is sent (RFC 4291 §2.7.1).
    var solicitedNode: IPv6Address {
        IPv6Address(high: 0xFF02 << 48, low: 1 << 32 | 0xFF00_0000 | low & 0xFF_FFFF)
    }

    /// The Ethernet group of this multicast address (RFC 2464 §7).
    var ethernetGroup: MACAddress {
        let last = bytes[12...]
        return MACAddress(0x33, 0x33, last[12], last[13], last[14], last[15])
    }
}
