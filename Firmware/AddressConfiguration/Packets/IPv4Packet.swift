public import DNSWire

/// A whole IPv4 packet (RFC 791) without options; options of received packets are skipped.
public struct IPv4Packet: Hashable, Sendable {
    /// The source address.
    public var source: IPv4Address
    /// The destination address.
    public var destination: IPv4Address
    /// The protocol of the payload; 17 is UDP.
    public var transport: UInt8
    /// The bytes after the IPv4 header.
    public var payload: [UInt8]

    /// The protocol number of UDP.
    public static let udp: UInt8 = 17
    /// The time to live in hops; RFC 1340 recommends 64.
    private static let timeToLive: UInt8 = 64
    private static let headerLength = 20

    /// Creates a packet.
    public init(source: IPv4Address, destination: IPv4Address, transport: UInt8, payload: [UInt8]) {
        self.source = source
        self.destination = destination
        self.transport = transport
        self.payload = payload
    }

    /// Decodes the bytes after the Ethernet header. Bytes after the packet's own length are padding.
    public init(decoding bytes: [UInt8]) throws(PacketError) {
        var reader = ByteReader(bytes)
        let first = try reader.readUInt8()
        guard first >> 4 == 4 else { throw PacketError(offset: 0, reason: .version(first >> 4)) }
        let headerLength = Int(first & 0xF) * 4
        guard headerLength >= Self.headerLength else { throw PacketError(offset: 0, reason: .length(headerLength)) }
        _ = try reader.readUInt8()
        let totalLength = Int(try reader.readUInt16())
        guard totalLength >= headerLength else { throw PacketError(offset: 2, reason: .length(totalLength)) }
        guard totalLength <= bytes.count else {
            throw PacketError(offset: bytes.count, reason: .truncated(needed: totalLength - bytes.count))
        }
        var checksum = InternetChecksum()
        checksum.add(bytes[..<headerLength])
        guard checksum.value == 0 else { throw PacketError(offset: 10, reason: .checksum) }
        _ = try reader.readUInt16()
        // The mask covers "more fragments" and the offset; "don't fragment" is ignored.
        guard try reader.readUInt16() & 0x3FFF == 0 else { throw PacketError(offset: 6, reason: .fragment) }
        _ = try reader.readUInt8()
        transport = try reader.readUInt8()
        _ = try reader.readUInt16()
        source = try reader.readIPv4Address()
        destination = try reader.readIPv4Address()
        payload = Array(bytes[headerLength..<totalLength])
    }

    /// The encoded packet. A packet of more than 65,535 bytes is a programming error.
    public var encoded: [UInt8] {
        let length = Self.headerLength + payload.count
        precondition(length <= UInt16.max, "a packet of \(length) bytes")
        var header = [0x45, 0] + networkOrder(UInt16(length)) + [0, 0, 0, 0, Self.timeToLive, transport, 0, 0]
        header += source.bytes + destination.bytes
        var checksum = InternetChecksum()
        checksum.add(header)
        header.replaceSubrange(10..<12, with: networkOrder(checksum.value))
        return header + payload
    }
}
