import AddressConfiguration
import DNSWire
import LinuxNetwork
import Logging
import NIOCore

/// Sends and receives ARP and DHCP as Ethernet frames on one interface. Confined to its event loop.
final class InterfaceFrames {
    enum Heard: Sendable {
        case arp(ARPPacket)
        case dhcp(DHCPMessage, from: IPv4Address)
        case malformed
    }

    private let arp: PacketSocket
    private let dhcp: PacketSocket

    init(
        interface: Int32, on eventLoop: any EventLoop, logger: Logger, hear: @escaping @Sendable (Heard) -> Void
    ) {
        arp = PacketSocket(.arp, interface: interface, on: eventLoop, logger: logger) { hear(Self.readARP($0)) }
        dhcp = PacketSocket(.dhcpReplies, interface: interface, on: eventLoop, logger: logger) {
            hear(Self.readDHCP($0))
        }
    }

    /// Sends an ARP packet to all hosts on the link.
    func broadcast(_ packet: ARPPacket) {
        let frame = EthernetFrame(
            destination: .broadcast, source: packet.senderHardware, type: EthernetFrame.arp, payload: packet.encoded)
        arp.send(frame.encoded)
    }

    /// Broadcasts a DHCP message to 255.255.255.255 from its own client address, which is 0.0.0.0 without a lease.
    func broadcast(_ message: DHCPMessage) {
        let packet = DHCPPacket(
            source: message.clientAddress, destination: IPv4Address(rawValue: .max), message: message)
        let frame = EthernetFrame(
            destination: .broadcast, source: message.clientHardware, type: EthernetFrame.ipv4, payload: packet.encoded)
        dhcp.send(frame.encoded)
    }

    /// Opens the sockets, because the link returned.
    func linkCame() {
        arp.openNow()
        dhcp.openNow()
    }

    func close() {
        arp.close()
        dhcp.close()
    }

    static func readARP(_ bytes: [UInt8]) -> Heard {
        do throws(PacketError) {
            return .arp(try ARPPacket(decoding: EthernetFrame(decoding: bytes).payload))
        } catch {
            return .malformed
        }
    }

    static func readDHCP(_ bytes: [UInt8]) -> Heard {
        do throws(PacketError) {
            let packet = try EthernetFrame(decoding: bytes).payload
            let reply = try DHCPPacket(decoding: packet, verifiesChecksum: !leavesChecksumToCard(packet))
            return .dhcp(reply.message, from: reply.source)
        } catch {
            return .malformed
        }
    }

    /// Returns true if the UDP checksum covers only the pseudo-header (CHECKSUM_PARTIAL). A DHCP server on the same
    /// machine, for example in a container, leaves the rest of the checksum to a network card that the packet never
    /// passes.
    private static func leavesChecksumToCard(_ packet: [UInt8]) -> Bool {
        guard let first = packet.first, packet.count >= Int(first & 0xF) * 4 + 8 else { return false }
        let start = Int(first & 0xF) * 4
        func word(_ offset: Int) -> UInt32 { UInt32(packet[offset]) << 8 | UInt32(packet[offset + 1]) }
        guard start >= 20 else { return false }
        var sum = stride(from: 12, to: 20, by: 2).reduce(UInt32(IPv4Packet.udp)) { $0 + word($1) } + word(start + 4)
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        return word(start + 6) == sum
    }
}
