import Testing

@testable import DNSWire

/// Compares packets byte for byte. The checksums were computed with an independent program.
@Suite struct PacketTracesTests {
    private let left = TracedEndpoint([192, 0, 2, 1], 5353)
    private let right = TracedEndpoint([192, 0, 2, 2], 5353)

    @Test("A capture file starts with the header of its link type") func whatAFileBeginsWith() {
        let common: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0]
        #expect(CaptureFormat.header(.ethernet) == common + [1, 0, 0, 0])
        #expect(CaptureFormat.header(.internet) == common + [101, 0, 0, 0])
    }

    @Test(
        "The time of a record is clamped to 32 bits of seconds",
        arguments: [
            (0, [0, 0, 0, 0, 0, 0, 0, 0]),
            (1_500_000_999, [1, 0, 0, 0, 0x20, 0xA1, 7, 0]),
            (-5, [0, 0, 0, 0, 0, 0, 0, 0]),
            (4_294_967_295_999_999_999, [0xFF, 0xFF, 0xFF, 0xFF, 0x3F, 0x42, 0x0F, 0]),
        ] as [(Int64, [UInt8])])
    func record(nanoseconds: Int64, time: [UInt8]) {
        let expected: [UInt8] = time + [3, 0, 0, 0, 3, 0, 0, 0] + [7, 8, 9]
        #expect(CaptureFormat.record([7, 8, 9], at: nanoseconds) == expected)
    }

    @Test("An IPv4 datagram has the expected bytes") func aDatagramOfIPv4() {
        let group = TracedEndpoint([224, 0, 0, 251], 5353)
        let internet: [UInt8] = [
            0x45, 0, 0, 31, 0, 0, 0x40, 0, 255, 17, 0xD8, 0xD0, 192, 0, 2, 1, 224, 0, 0, 251,
        ]
        let user: [UInt8] = [0x14, 0xE9, 0x14, 0xE9, 0, 11, 0x6E, 0xA6, 0x61, 0x62, 0x63]
        #expect(InternetPacket.udp(from: left, to: group, [0x61, 0x62, 0x63]) == internet + user)
    }

    @Test("An IPv6 datagram has the expected bytes") func aDatagramOfIPv6() {
        let zeros = [UInt8](repeating: 0, count: 13)
        let packet = InternetPacket.udp(
            from: TracedEndpoint([0xFE, 0x80] + zeros + [7], 5353),
            to: TracedEndpoint([0xFF, 2] + zeros + [0xFB], 5353),
            [1])
        #expect(packet[..<8] == [0x60, 0, 0, 0, 0, 9, 17, 255])
        #expect(Array(packet[8..<40]) == [0xFE, 0x80] + zeros + [7] + [0xFF, 2] + zeros + [0xFB])
        #expect(packet[40...] == [0x14, 0xE9, 0x14, 0xE9, 0, 9, 0xD6, 0x84, 1])
    }

    @Test("A UDP checksum of zero is sent as its complement") func aChecksumOfZeroIsSentAsItsComplement() {
        let packet = InternetPacket.udp(from: left, to: right, [0x52, 0x04])
        #expect(packet[26..<28] == [0xFF, 0xFF])
    }

    @Test("A TCP segment has the expected bytes") func aSegmentOfTCP() {
        let packet = InternetPacket.tcp(
            from: TracedEndpoint([192, 0, 2, 1], 40_000), to: TracedEndpoint([192, 0, 2, 2], 4711), [.psh, .ack],
            sequence: 0x0102_0304, acknowledgement: 0x0A0B_0C0D, Array("hi!".utf8))
        let internet: [UInt8] = [
            0x45, 0, 0, 0x2B, 0, 0, 0x40, 0, 0xFF, 6, 0xF7, 0xC8, 192, 0, 2, 1, 192, 0, 2, 2,
        ]
        let transport: [UInt8] = [
            0x9C, 0x40, 0x12, 0x67, 1, 2, 3, 4, 0x0A, 0x0B, 0x0C, 0x0D, 0x50, 0x18, 0xFF, 0xFF, 0xD9, 0x96, 0, 0, 0x68,
            0x69, 0x21,
        ]
        #expect(packet == internet + transport)
    }

    @Test("A payload above the packet limit is truncated") func aPayloadThatNoPacketCanHoldIsCut() {
        let packet = InternetPacket.udp(from: left, to: right, [UInt8](repeating: 1, count: 70_000))
        #expect(packet.count == 20 + 8 + InternetPacket.longestPayload)
        #expect(packet.count <= Int(CaptureFormat.longestPacket))
        #expect(Array(packet[2..<4]) == [UInt8(packet.count >> 8), UInt8(packet.count & 0xFF)])
    }
}
