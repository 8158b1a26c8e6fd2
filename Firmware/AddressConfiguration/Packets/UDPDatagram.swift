public import DNSWire

/// A UDP datagram (RFC 768).
public struct UDPDatagram: Hashable, Sendable {
    /// The source port.
    public var sourcePort: UInt16
    /// The destination port.
    public var destinationPort: UInt16
    /// The bytes after the UDP header.
    public var payload: [UInt8]

    private static let headerLength = 8

    /// Creates a datagram.
    public init(sourcePort: UInt16, destinationPort: UInt16, payload: [UInt8]) {
        self.sourcePort = sourcePort
        self.destinationPort = destinationPort
        self.payload = payload
    }

    /// Decodes the payload of an IPv4 packet. A checksum of zero means that the sender computed none, and is accepted.
    ///
    /// - Parameter verifiesChecksum: false if the sender is on the same machine and left the checksum to a card that
    ///   the packet never passed (TP_STATUS_CSUMNOTREADY of packet(7)). The field then does not contain the checksum.
    public init(decoding packet: IPv4Packet, verifiesChecksum: Bool = true) throws(PacketError) {
        guard packet.transport == IPv4Packet.udp else {
            throw PacketError(offset: 0, reason: .transport(packet.transport))
        }
        var reader = ByteReader(packet.payload)
        sourcePort = try reader.readUInt16()
        destinationPort = try reader.readUInt16()
        let length = Int(try reader.readUInt16())
        guard length >= Self.headerLength else { throw PacketError(offset: 4, reason: .length(length)) }
        let checksum = try reader.readUInt16()
        guard length <= packet.payload.count else {
            throw PacketError(
                offset: packet.payload.count, reason: .truncated(needed: length - packet.payload.count))
        }
        if verifiesChecksum, checksum != 0 {
            let sum = Self.checksum(packet.payload[..<length], from: packet.source, to: packet.destination)
            guard sum == 0 else { throw PacketError(offset: 6, reason: .checksum) }
        }
        payload = Array(packet.payload[Self.headerLength..<length])
    }

    /// Returns the datagram in an IPv4 packet. A payload of more than 65,527 bytes is a programming error;
    /// ``IPv4Packet/encoded`` accepts at most 65,507 bytes.
    public func packet(from source: IPv4Address, to destination: IPv4Address) -> IPv4Packet {
        let length = Self.headerLength + payload.count
        precondition(length <= UInt16.max, "a datagram of \(length) bytes")
        var bytes = networkOrder(sourcePort) + networkOrder(destinationPort) + networkOrder(UInt16(length)) + [0, 0]
        bytes += payload
        let sum = Self.checksum(bytes[...], from: source, to: destination)
        // Zero would mean that the checksum is missing.
        bytes.replaceSubrange(6..<8, with: networkOrder(sum == 0 ? 0xFFFF : sum))
        return IPv4Packet(source: source, destination: destination, transport: IPv4Packet.udp, payload: bytes)
    }

    private static func checksum(
        _ bytes: ArraySlice<UInt8>, from source: IPv4Address, to destination: IPv4Address
    ) -> UInt16 {
        var checksum = InternetChecksum()
        checksum.add(source.bytes + destination.bytes + [0, IPv4Packet.udp] + networkOrder(UInt16(bytes.count)))
        checksum.add(bytes)
        return checksum.value
    }
}
