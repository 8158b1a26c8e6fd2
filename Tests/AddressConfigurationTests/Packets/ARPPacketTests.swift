import DNSWire
import Testing

@testable import AddressConfiguration

@Suite("ARP packets")
struct ARPPacketTests {
    private let own = MACAddress(2, 0, 0, 0, 0, 1)
    private let other = MACAddress(2, 0, 0, 0, 0, 2)
    private let address = IPv4Address(169, 254, 7, 9)

    @Test("Each field is encoded at its offset")
    func bytes() throws {
        let packet = ARPPacket(
            operation: .reply, senderHardware: MACAddress(1, 2, 3, 4, 5, 6), senderAddress: IPv4Address(10, 11, 12, 13),
            targetHardware: MACAddress(21, 22, 23, 24, 25, 26), targetAddress: IPv4Address(30, 31, 32, 33))
        let bytes: [UInt8] = [
            0, 1, 8, 0, 6, 4, 0, 2, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 21, 22, 23, 24, 25, 26, 30, 31, 32, 33,
        ]
        #expect(packet.encoded == bytes)
        #expect(try ARPPacket(decoding: bytes) == packet)
        #expect(bytes.count == ARPPacket.length)
    }

    @Test("Padding after the packet is ignored")
    func padding() throws {
        let packet = ARPPacket.probe(for: address, from: own)
        #expect(try ARPPacket(decoding: packet.encoded + [UInt8](repeating: 7, count: 18)) == packet)
    }

    @Test("The sender's IPv4 address and the target's hardware address of a probe are zero")
    func probe() {
        let probe = ARPPacket.probe(for: address, from: own)
        #expect(
            probe.encoded == [
                0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 169, 254, 7, 9,
            ])
        #expect(probe.isProbe)
    }

    @Test("An announcement is a request with one address as sender and target")
    func announcement() {
        let announcement = ARPPacket.announcement(of: address, from: own)
        #expect(
            announcement.encoded == [
                0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 169, 254, 7, 9, 0, 0, 0, 0, 0, 0, 169, 254, 7, 9,
            ])
        #expect(!announcement.isProbe)
    }

    @Test("A reply is addressed to the sender of the request")
    func reply() {
        var request = ARPPacket.announcement(of: address, from: other)
        request.targetAddress = IPv4Address(169, 254, 1, 1)
        let reply = ARPPacket.reply(to: request, from: own)
        #expect(
            reply.encoded == [
                0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 1, 169, 254, 1, 1, 2, 0, 0, 0, 0, 2, 169, 254, 7, 9,
            ])
        #expect(!reply.isProbe)
    }

    @Test("A packet of a different kind is rejected with the offset of the wrong field")
    func refused() throws {
        let good = ARPPacket.probe(for: address, from: own).encoded
        let cases: [(Int, UInt8, PacketError)] = [
            (1, 6, PacketError(offset: 0, reason: .hardwareType(6))),
            (2, 0x86, PacketError(offset: 2, reason: .protocolType(0x8600))),
            (4, 8, PacketError(offset: 4, reason: .addressLength(8))),
            (5, 16, PacketError(offset: 5, reason: .addressLength(16))),
            (7, 3, PacketError(offset: 6, reason: .operation(3))),
            (7, 0, PacketError(offset: 6, reason: .operation(0))),
        ]
        for (place, value, error) in cases {
            var bytes = good
            bytes[place] = value
            #expect(throws: error) { try ARPPacket(decoding: bytes) }
        }
    }

    @Test("A truncated packet is rejected")
    func truncated() {
        let good = ARPPacket.probe(for: address, from: own).encoded
        for count in good.indices {
            #expect(throws: PacketError.self) { try ARPPacket(decoding: Array(good.prefix(count))) }
        }
        #expect(throws: PacketError(offset: 24, reason: .truncated(needed: 4))) {
            try ARPPacket(decoding: Array(good.prefix(27)))
        }
    }
}

@Suite("Ethernet frames")
struct EthernetFrameTests {
    @Test("Each field is encoded at its offset")
    func bytes() throws {
        let frame = EthernetFrame(
            destination: .broadcast, source: MACAddress(1, 2, 3, 4, 5, 6), type: EthernetFrame.arp, payload: [9, 8])
        let bytes: [UInt8] = [255, 255, 255, 255, 255, 255, 1, 2, 3, 4, 5, 6, 8, 6, 9, 8]
        #expect(frame.encoded == bytes)
        #expect(try EthernetFrame(decoding: bytes) == frame)
        #expect(EthernetFrame.ipv4 == 0x0800)
        #expect(EthernetFrame.headerLength == 14)
    }

    @Test("A frame shorter than its header is rejected")
    func truncated() {
        #expect(throws: PacketError(offset: 12, reason: .truncated(needed: 2))) {
            try EthernetFrame(decoding: [UInt8](repeating: 0, count: 13))
        }
    }
}
