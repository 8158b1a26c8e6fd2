public import DNSWire

/// A DHCP message in its IPv4 packet, as a packet socket sends and receives it.
public struct DHCPPacket: Hashable, Sendable {
    /// The source address of the IPv4 packet.
    public var source: IPv4Address
    /// The destination address of the IPv4 packet.
    public var destination: IPv4Address
    /// The DHCP message.
    public var message: DHCPMessage

    /// The server's port (RFC 2131 §4.1).
    public static let serverPort: UInt16 = 67
    /// The client's port.
    public static let clientPort: UInt16 = 68

    /// Creates a packet.
    public init(source: IPv4Address, destination: IPv4Address, message: DHCPMessage) {
        self.source = source
        self.destination = destination
        self.message = message
    }

    /// Creates a request to all servers on the link, from the client's address, or from 0.0.0.0 without one (RFC 2131
    /// §4.1).
    public init(broadcasting message: DHCPMessage) {
        self.init(source: message.clientAddress, destination: .broadcast, message: message)
    }

    /// Decodes the bytes after the Ethernet header.
    ///
    /// - Parameter verifiesChecksum: see ``UDPDatagram/init(decoding:verifiesChecksum:)``.
    public init(decoding bytes: [UInt8], verifiesChecksum: Bool = true) throws(PacketError) {
        let packet = try IPv4Packet(decoding: bytes)
        let datagram = try UDPDatagram(decoding: packet, verifiesChecksum: verifiesChecksum)
        guard [Self.serverPort, Self.clientPort].contains(datagram.destinationPort) else {
            throw PacketError(offset: 2, reason: .port(datagram.destinationPort))
        }
        source = packet.source
        destination = packet.destination
        message = try DHCPMessage(decoding: datagram.payload)
    }

    /// The encoded packet. Requests use the ports 68 to 67, replies the reverse.
    public var encoded: [UInt8] {
        let isRequest = message.operation == .request
        let datagram = UDPDatagram(
            sourcePort: isRequest ? Self.clientPort : Self.serverPort,
            destinationPort: isRequest ? Self.serverPort : Self.clientPort, payload: message.encoded)
        return datagram.packet(from: source, to: destination).encoded
    }
}
