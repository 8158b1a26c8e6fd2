import AddressConfiguration
import DNSWire
import SleepProxy
import Testing

@Suite("Packets of IPv6")
struct PacketTests {
    private let source = IPv6Address(high: 0xFE80 << 48, low: 1)
    private let target = IPv6Address(high: 0xFE80 << 48, low: 0x1234_5678)
    private let card = MACAddress(2, 0, 0, 0, 0, 9)

    @Test(
        "Messages of neighbour discovery survive encoding and decoding",
        arguments: [
            NeighborMessage.Kind.solicitation, .advertisement(isSolicited: true, overrides: false),
            .advertisement(isSolicited: false, overrides: true),
        ])
    func roundTrip(_ kind: NeighborMessage.Kind) throws {
        for hardware in [card, nil] {
            let message = NeighborMessage(kind, target: target, hardware: hardware)
            let packet = message.packet(from: source, to: target)
            let decoded = try IPv6Packet(decoding: packet.encoded + [0, 0])
            #expect(decoded == packet)
            #expect(try NeighborMessage(decoding: decoded) == message)
        }
    }

    @Test("A solicitation has a valid checksum, the hop limit 255 and a payload of 32 bytes") func knownBytes() {
        // fe80::1 asks for fe80::1234:5678 at ff02::1:ff34:5678. The test computes the checksum itself.
        let group = IPv6Address(high: 0xFF02 << 48, low: 0x1_FF34_5678)
        let bytes = NeighborMessage(.solicitation, target: target, hardware: card).packet(from: source, to: group)
        var sum: UInt32 = 0
        let pseudo = source.bytes + group.bytes + [0, 0, 0, UInt8(bytes.payload.count), 0, 0, 0, 58] + bytes.payload
        for index in stride(from: 0, to: pseudo.count, by: 2) {
            sum += UInt32(pseudo[index]) << 8 | UInt32(pseudo[index + 1])
        }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        #expect(sum == 0xFFFF)
        #expect(bytes.hopLimit == 255 && bytes.payload.count == 32)
    }

    @Test("A message with a wrong checksum, hop limit or option length is rejected") func invalid() throws {
        let packet = NeighborMessage(.solicitation, target: target, hardware: card).packet(from: source, to: target)
        for place in packet.payload.indices {
            var damaged = packet
            damaged.payload[place] ^= 1
            #expect(throws: PacketError.self) { try NeighborMessage(decoding: damaged) }
        }
        var forwarded = packet
        forwarded.hopLimit = 254
        #expect(throws: PacketError(offset: 0, reason: .hopLimit(254))) { try NeighborMessage(decoding: forwarded) }
    }

    @Test("Extension headers are skipped, and fragments and long chains are rejected") func extensions() throws {
        let packet = NeighborMessage(.solicitation, target: target, hardware: card).packet(from: source, to: target)
        var bytes = packet.encoded
        bytes[5] += 8
        bytes[6] = 0
        let header: [UInt8] = [58, 0, 1, 4, 0, 0, 0, 0]
        #expect(try IPv6Packet(decoding: Array(bytes[..<40] + header + bytes[40...])) == packet)
        let fragment: [UInt8] = [44, 0, 1, 4, 0, 0, 0, 0]
        #expect(throws: PacketError.self) { try IPv6Packet(decoding: Array(bytes[..<40] + fragment + bytes[40...])) }
        var chain = packet.encoded
        chain[5] += 80
        chain[6] = 0
        let links = (0..<10).flatMap { _ in [0, 0, 1, 4, 0, 0, 0, 0] as [UInt8] }
        #expect(throws: PacketError.self) { try IPv6Packet(decoding: Array(chain[..<40] + links + chain[40...])) }
        for length in 0..<packet.encoded.count {
            #expect(throws: PacketError.self) { try IPv6Packet(decoding: Array(packet.encoded[..<length])) }
        }
    }
}
