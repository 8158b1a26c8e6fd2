import AddressConfiguration
import DNSWire
import Testing

@testable import AddressService

@Suite("Received frames")
struct InterfaceFramesTests {
    private let mac = MACAddress(2, 0, 0, 0, 0, 1)
    private let server = IPv4Address(192, 0, 2, 1)

    private func frame(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
        EthernetFrame(destination: .broadcast, source: mac, type: type, payload: payload).encoded
    }

    private var reply: DHCPMessage {
        DHCPMessage(operation: .reply, transaction: 7, yourAddress: IPv4Address(192, 0, 2, 9), clientHardware: mac)
    }

    private var replyFrame: [UInt8] {
        frame(
            EthernetFrame.ipv4,
            DHCPPacket(source: server, destination: IPv4Address(rawValue: .max), message: reply).encoded)
    }

    private func isReply(_ heard: InterfaceFrames.Heard) -> Bool {
        if case .dhcp(let message, from: server) = heard { message == reply } else { false }
    }

    @Test("An ARP packet is decoded from a frame with padding, and a truncated frame is malformed")
    func arp() {
        let probe = ARPPacket.probe(for: server, from: mac)
        let bytes = frame(EthernetFrame.arp, probe.encoded + [UInt8](repeating: 0, count: 18))
        guard case .arp(probe) = InterfaceFrames.readARP(bytes) else {
            return #expect(Bool(false), "the probe was not decoded")
        }
        guard case .malformed = InterfaceFrames.readARP(Array(bytes.prefix(30))) else {
            return #expect(Bool(false), "the truncated frame was accepted")
        }
    }

    @Test("A DHCP reply is accepted with its checksum, or with the partial checksum of a virtual network card")
    func checksum() {
        #expect(isReply(InterfaceFrames.readDHCP(replyFrame)))
        // The sum of the UDP pseudo-header: source 192.0.2.1, destination 255.255.255.255, protocol 17, length 308.
        var left = replyFrame
        var sum: UInt32 = 0xC000 + 0x0201 + 0xFFFF + 0xFFFF + 17 + 308
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        (left[14 + 20 + 6], left[14 + 20 + 7]) = (UInt8(sum >> 8), UInt8(sum & 0xFF))
        #expect(isReply(InterfaceFrames.readDHCP(left)))
        var wrong = replyFrame
        wrong[60] ^= 1
        guard case .malformed = InterfaceFrames.readDHCP(wrong) else {
            return #expect(Bool(false), "accepted a wrong checksum")
        }
    }

    @Test("A frame that is truncated anywhere is malformed")
    func cuts() {
        for length in 0..<replyFrame.count {
            guard case .malformed = InterfaceFrames.readDHCP(Array(replyFrame.prefix(length))) else {
                return #expect(Bool(false), "cut at \(length)")
            }
        }
    }
}
