import DNSWire
import Testing

@testable import AddressConfiguration

@Suite("UDP datagrams in IPv4 packets")
struct PacketTests {
    private let source = IPv4Address(192, 0, 2, 1)
    private let destination = IPv4Address(255, 255, 255, 255)
    /// Computed by hand from RFC 791 and RFC 768: port 68 to 67 with the payload "hi!".
    private let bytes: [UInt8] = [
        0x45, 0, 0, 31, 0, 0, 0, 0, 64, 17, 0xB8, 0xCD, 192, 0, 2, 1, 255, 255, 255, 255,
        0, 68, 0, 67, 0, 11, 0xB3, 0xE6, 0x68, 0x69, 0x21,
    ]

    private func decoded(_ bytes: [UInt8], verifiesChecksum: Bool = true) throws -> UDPDatagram {
        try UDPDatagram(decoding: IPv4Packet(decoding: bytes), verifiesChecksum: verifiesChecksum)
    }

    /// Returns the packet with changed header bytes and a correct checksum.
    private func changed(_ changes: [(Int, UInt8)]) -> [UInt8] {
        var packet = bytes
        for (place, value) in changes { packet[place] = value }
        packet.replaceSubrange(10..<12, with: [0, 0])
        var sum = 0
        for place in stride(from: 0, to: Int(packet[0] & 0xF) * 4, by: 2) where place + 1 < packet.count {
            sum += Int(packet[place]) << 8 | Int(packet[place + 1])
        }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        packet.replaceSubrange(10..<12, with: [UInt8(~sum >> 8 & 0xFF), UInt8(~sum & 0xFF)])
        return packet
    }

    @Test("Each field and both checksums are encoded at their offsets")
    func layout() throws {
        let datagram = UDPDatagram(sourcePort: 68, destinationPort: 67, payload: Array("hi!".utf8))
        #expect(datagram.packet(from: source, to: destination).encoded == bytes)
        let packet = try IPv4Packet(decoding: bytes)
        #expect(packet.source == source)
        #expect(packet.destination == destination)
        #expect(packet.transport == 17)
        #expect(try UDPDatagram(decoding: packet) == datagram)
    }

    @Test("Padding after the packet is ignored")
    func padding() throws {
        #expect(try decoded(bytes + [1, 2, 3]).payload == Array("hi!".utf8))
    }

    @Test("Options in the IPv4 header are skipped")
    func headerOptions() throws {
        var long = bytes
        long[0] = 0x46
        long[3] = 35
        long.insert(contentsOf: [1, 1, 1, 0], at: 20)
        // The header length, the total length and the options add 0x0100 + 4 + 0x0101 + 0x0100 to the sum.
        let checksum = 0xB8CD - 0x0100 - 4 - 0x0101 - 0x0100
        long.replaceSubrange(10..<12, with: [UInt8(checksum >> 8), UInt8(checksum & 0xFF)])
        #expect(try decoded(long).payload == Array("hi!".utf8))
    }

    @Test("A packet with a wrong checksum is rejected")
    func checksums() {
        for place in 0..<20 {
            var damaged = bytes
            damaged[place] ^= 0x10
            #expect(throws: PacketError.self) { try decoded(damaged) }
        }
        var header = bytes
        header[8] = 63
        #expect(throws: PacketError(offset: 10, reason: .checksum)) { try decoded(header) }
        var payload = bytes
        payload[30] = 0x22
        #expect(throws: PacketError(offset: 6, reason: .checksum)) { try decoded(payload) }
    }

    @Test("A UDP checksum of zero is accepted, and a wrong checksum is accepted if the caller disables the check")
    func unfinishedChecksum() throws {
        var unfinished = bytes
        unfinished[26] ^= 0xFF
        #expect(try decoded(unfinished, verifiesChecksum: false).payload == Array("hi!".utf8))
        var without = bytes
        without.replaceSubrange(26..<28, with: [0, 0])
        #expect(try decoded(without).payload == Array("hi!".utf8))
    }

    @Test("A checksum of zero is sent as 0xFFFF, because zero means no checksum")
    func zeroChecksum() throws {
        // With this payload, the sum of all other words is 0xFFFF, so the checksum is zero.
        let zero = IPv4Address(0, 0, 0, 0)
        let datagram = UDPDatagram(sourcePort: 0, destinationPort: 0, payload: [0xFF, 0xDA])
        let packet = datagram.packet(from: zero, to: zero)
        #expect(packet.payload[6..<8] == [0xFF, 0xFF])
        #expect(try UDPDatagram(decoding: packet) == datagram)
    }

    @Test("A fragment, a different version and a wrong length are rejected with the offset of the wrong field")
    func refused() {
        let cases: [([(Int, UInt8)], PacketError)] = [
            ([(6, 0x20)], PacketError(offset: 6, reason: .fragment)),
            ([(7, 1)], PacketError(offset: 6, reason: .fragment)),
            ([(0, 0x65)], PacketError(offset: 0, reason: .version(6))),
            ([(0, 0x44)], PacketError(offset: 0, reason: .length(16))),
            ([(3, 19)], PacketError(offset: 2, reason: .length(19))),
            ([(3, 32)], PacketError(offset: 31, reason: .truncated(needed: 1))),
            ([(9, 6)], PacketError(offset: 0, reason: .transport(6))),
            ([(25, 7)], PacketError(offset: 4, reason: .length(7))),
            ([(25, 12)], PacketError(offset: 11, reason: .truncated(needed: 1))),
        ]
        for (changes, error) in cases {
            #expect(throws: error) { try decoded(changed(changes)) }
        }
        #expect(throws: Never.self) { try decoded(changed([(6, 0x40)])) }
    }

    @Test("A truncated packet is rejected")
    func truncated() {
        for count in bytes.indices {
            #expect(throws: PacketError.self) { try decoded(Array(bytes.prefix(count))) }
        }
    }

    @Test("Requests go from port 68 to 67, replies from 67 to 68")
    func ports() throws {
        let request = DHCPMessage(operation: .request, transaction: 1, clientHardware: .broadcast)
        let packet = DHCPPacket(broadcasting: request)
        #expect(packet.source == .any && packet.destination == .broadcast)
        #expect(packet.encoded[20..<24] == [0, 68, 0, 67])
        #expect(try DHCPPacket(decoding: packet.encoded) == packet)
        var reply = request
        reply.operation = .reply
        let answer = DHCPPacket(source: source, destination: destination, message: reply)
        #expect(answer.encoded[20..<24] == [0, 67, 0, 68])
        #expect(try DHCPPacket(decoding: answer.encoded) == answer)
    }

    @Test("A datagram to a different port is not a DHCP message")
    func otherPort() {
        let other = UDPDatagram(sourcePort: 67, destinationPort: 69, payload: []).packet(from: source, to: destination)
        #expect(throws: PacketError(offset: 2, reason: .port(69))) { try DHCPPacket(decoding: other.encoded) }
    }
}

@Suite("IPv4 masks")
struct MaskTests {
    @Test("A mask has its ones at the beginning")
    func masks() {
        #expect(IPv4Address.mask(prefixLength: 0) == IPv4Address(0, 0, 0, 0))
        #expect(IPv4Address.mask(prefixLength: 20) == IPv4Address(255, 255, 240, 0))
        #expect(IPv4Address.mask(prefixLength: 32) == IPv4Address(255, 255, 255, 255))
        for length in UInt8(0)...32 { #expect(IPv4Address.mask(prefixLength: length).maskLength == length) }
        #expect(IPv4Address(255, 0, 255, 0).maskLength == nil)
        #expect(IPv4Address(0, 0, 0, 1).maskLength == nil)
    }

    @Test("A mask separates the addresses of a network from others")
    func networks() {
        let address = IPv4Address(10, 1, 30, 9)
        #expect(address.network(prefixLength: 20) == IPv4Address(10, 1, 16, 0))
        #expect(address.broadcast(prefixLength: 20) == IPv4Address(10, 1, 31, 255))
        #expect(address.shares(prefixLength: 20, with: IPv4Address(10, 1, 16, 1)))
        #expect(!address.shares(prefixLength: 20, with: IPv4Address(10, 1, 32, 1)))
    }
}
