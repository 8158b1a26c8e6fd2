import DNSWire
import Testing

@testable import AddressConfiguration

/// Returns the bytes of a reply for Ethernet: the fixed part, the cookie and these options. The key of each field is
/// its offset. All other bytes after the first four of the fixed part are zero.
func dhcpBytes(_ fields: [Int: [UInt8]] = [:], options: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [2, 1, 6, 0] + [UInt8](repeating: 0, count: 232) + [0x63, 0x82, 0x53, 0x63]
    for (place, content) in fields { bytes.replaceSubrange(place..<(place + content.count), with: content) }
    return bytes + options
}

@Suite("DHCP messages")
struct DHCPMessageTests {
    @Test("Each field is encoded at its offset")
    func layout() throws {
        var options = DHCPOptions()
        options.messageType = .request
        options.requestedAddress = IPv4Address(10, 0, 0, 5)
        let message = DHCPMessage(
            operation: .request, transaction: 0x0102_0304, secondsElapsed: 0x0506, wantsBroadcast: true,
            clientAddress: IPv4Address(11, 12, 13, 14), yourAddress: IPv4Address(15, 16, 17, 18),
            nextServer: IPv4Address(19, 20, 21, 22), relay: IPv4Address(23, 24, 25, 26),
            clientHardware: MACAddress(31, 32, 33, 34, 35, 36), options: options)
        let head: [UInt8] = [
            1, 1, 6, 0, 1, 2, 3, 4, 5, 6, 0x80, 0, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
            31, 32, 33, 34, 35, 36,
        ]
        let encoded = message.encoded
        #expect(Array(encoded.prefix(34)) == head)
        #expect(encoded[34..<236].allSatisfy { $0 == 0 })
        #expect(Array(encoded[236..<250]) == [0x63, 0x82, 0x53, 0x63, 53, 1, 3, 50, 4, 10, 0, 0, 5, 255])
        #expect(encoded.count == 300 && encoded[250...].allSatisfy { $0 == 0 })
        #expect(try DHCPMessage(decoding: encoded) == message)
    }

    @Test("A message of a different kind is rejected with the offset of the wrong field")
    func refused() {
        let good = dhcpBytes(options: [53, 1, 5, 255])
        let cases: [(Int, UInt8, PacketError)] = [
            (0, 3, PacketError(offset: 0, reason: .operation(3))),
            (1, 6, PacketError(offset: 1, reason: .hardwareType(6))),
            (2, 16, PacketError(offset: 2, reason: .addressLength(16))),
            (239, 0x64, PacketError(offset: 236, reason: .cookie(0x6382_5364))),
        ]
        for (place, value, error) in cases {
            var bytes = good
            bytes[place] = value
            #expect(throws: error) { try DHCPMessage(decoding: bytes) }
        }
    }

    @Test("A message that is truncated before or within its options is rejected")
    func truncated() throws {
        let good = dhcpBytes(options: [53, 1, 5, 54, 4, 10, 0, 0, 1, 255])
        for count in 0..<240 {
            #expect(throws: PacketError.self) { try DHCPMessage(decoding: Array(good.prefix(count))) }
        }
        #expect(throws: PacketError(offset: 245, reason: .truncated(needed: 4))) {
            try DHCPMessage(decoding: Array(good.prefix(248)))
        }
        #expect(throws: PacketError(offset: 244, reason: .truncated(needed: 1))) {
            try DHCPMessage(decoding: Array(good.prefix(244)))
        }
    }

    @Test("A message without an end option is decoded")
    func noEnd() throws {
        #expect(try DHCPMessage(decoding: dhcpBytes(options: [])).options.codes.isEmpty)
        #expect(try DHCPMessage(decoding: dhcpBytes(options: [0, 53, 1, 6, 0])).options.messageType == .nak)
    }

    @Test("Bytes after the end option are ignored")
    func end() throws {
        let message = try DHCPMessage(decoding: dhcpBytes(options: [0, 0, 53, 1, 2, 255, 54, 4, 1, 1, 1, 1, 9, 9]))
        #expect(message.options.codes == [.messageType])
    }

    @Test("A message longer than 1500 bytes is rejected")
    func tooLong() {
        let longest = dhcpBytes(options: [UInt8](repeating: 0, count: 1260))
        #expect(throws: Never.self) { try DHCPMessage(decoding: longest) }
        #expect(throws: PacketError(offset: 1500, reason: .tooLong(limit: 1500))) {
            try DHCPMessage(decoding: longest + [0])
        }
    }

    @Test("Options in the fields of the boot file and the server name are decoded")
    func overload() throws {
        let file: [UInt8] = [51, 4, 0, 0, 0, 60, 6, 4, 10, 0, 0, 2, 255, 7, 7]
        let name: [UInt8] = [0, 0, 54, 4, 10, 0, 0, 1, 6, 4, 10, 0, 0, 3]
        func decoded(_ overload: UInt8) throws -> DHCPOptions {
            try DHCPMessage(
                decoding: dhcpBytes(
                    [44: name, 108: file], options: [53, 1, 5, 52, 1, overload, 6, 4, 10, 0, 0, 1, 255])
            ).options
        }
        #expect(try decoded(0).codes == [.messageType, .domainNameServers])
        #expect(try decoded(1).codes == [.messageType, .domainNameServers, .leaseTime])
        #expect(try decoded(2).codes == [.messageType, .domainNameServers, .serverIdentifier])
        let both = try decoded(3)
        #expect(both.codes == [.messageType, .domainNameServers, .leaseTime, .serverIdentifier])
        #expect(both.leaseTime == 60)
        // The pieces are joined in this order: options, file, server name (RFC 3396 §5).
        #expect(both.domainNameServers == (1...3).map { IPv4Address(10, 0, 0, $0) })
    }

    @Test("An overloaded field that ends within an option is rejected")
    func truncatedOverload() {
        let name = [UInt8](repeating: 0, count: 62) + [54, 4]
        #expect(throws: PacketError(offset: 108, reason: .truncated(needed: 4))) {
            try DHCPMessage(decoding: dhcpBytes([44: name], options: [52, 1, 2, 255]))
        }
    }

    @Test("An overload option within an overloaded field is ignored")
    func nestedOverload() throws {
        let bytes = dhcpBytes([44: [52, 1, 1, 255], 108: [51, 4, 0, 0, 0, 60, 255]], options: [52, 1, 2, 255])
        #expect(try DHCPMessage(decoding: bytes).options.codes.isEmpty)
    }
}
