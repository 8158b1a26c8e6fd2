import AddressConfiguration
import DNSWire

/// The part of an Ethernet frame that the proxy needs.
struct ReceivedFrame: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        case arp(ARPPacket)
        /// A message of neighbour discovery with the source address of its packet.
        case neighbor(NeighborMessage, from: IPv6Address)
        /// The start of a TCP connection: SYN without ACK and RST.
        case connection(to: IPAddress, port: UInt16)
        case datagram(to: IPAddress, port: UInt16)
        /// Any other packet. Only its source matters.
        case other
    }

    let source: MACAddress
    let destination: MACAddress
    let content: Content

    /// Decodes a frame, or returns nil if it has no Ethernet header. The checksums of TCP and UDP are not verified: the
    /// proxy uses only ports, and a sender on the same machine leaves the checksum to its card.
    init?(decoding bytes: [UInt8]) {
        guard let frame = try? EthernetFrame(decoding: bytes) else { return nil }
        source = frame.source
        destination = frame.destination
        content = Self.content(of: frame)
    }

    private static func content(of frame: EthernetFrame) -> Content {
        switch frame.type {
        case EthernetFrame.arp:
            return (try? ARPPacket(decoding: frame.payload)).map { .arp($0) } ?? .other
        case EthernetFrame.ipv4:
            guard let packet = try? IPv4Packet(decoding: frame.payload) else { return .other }
            return transport(packet.transport, packet.payload, to: .v4(packet.destination))
        case EthernetFrame.ipv6:
            guard let packet = try? IPv6Packet(decoding: frame.payload) else { return .other }
            guard packet.transport == IPv6Packet.icmp else {
                return transport(packet.transport, packet.payload, to: .v6(packet.destination))
            }
            return (try? NeighborMessage(decoding: packet)).map { .neighbor($0, from: packet.source) } ?? .other
        default: return .other
        }
    }

    /// The protocol number of TCP.
    static let tcp: UInt8 = 6
    /// The bytes of a TCP header up to its flags, and of a UDP header.
    private static let (segmentHeader, datagramHeader) = (14, 8)
    private static let (reset, synchronize, acknowledge): (UInt8, UInt8, UInt8) = (0x04, 0x02, 0x10)

    private static func transport(_ transport: UInt8, _ payload: [UInt8], to address: IPAddress) -> Content {
        func port() -> UInt16 { UInt16(payload[2]) << 8 | UInt16(payload[3]) }
        switch transport {
        case tcp where payload.count >= segmentHeader:
            guard payload[13] & (synchronize | acknowledge | reset) == synchronize else { return .other }
            return .connection(to: address, port: port())
        case IPv4Packet.udp where payload.count >= datagramHeader:
            return .datagram(to: address, port: port())
        default: return .other
        }
    }
}
