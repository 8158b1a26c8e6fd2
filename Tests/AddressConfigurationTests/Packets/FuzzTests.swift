import AddressConfiguration
import DNSWire
import TestSupport
import Testing

@Suite("Damaged bytes from the link")
struct FuzzTests {
    private var reply: DHCPMessage {
        var options = DHCPOptions()
        options.messageType = .ack
        options.serverIdentifier = IPv4Address(10, 0, 0, 1)
        options.leaseTime = 3600
        options.subnetMask = IPv4Address(255, 255, 255, 0)
        options.searchDomains = ["lan", "example.com"]
        options.staticRoutes = [
            ClasslessRoute(destination: .any, prefixLength: 0, router: IPv4Address(10, 0, 0, 1))
        ]
        options.domainNameServers = (0..<80).map { IPv4Address(10, 0, 0, $0) }
        return DHCPMessage(
            operation: .reply, transaction: 7, yourAddress: IPv4Address(10, 0, 0, 9), clientHardware: .zero,
            options: options)
    }

    @Test(
        "A damaged message is rejected with an offset in the message, or is unchanged after encoding and decoding",
        arguments: 0..<4)
    func mutations(seed: UInt64) throws {
        var random = Fuzzing.random(seed)
        let overloaded = dhcpBytes(
            [44: [54, 4, 10, 0, 0, 1, 255], 108: [51, 4, 0, 0, 0, 60, 255]],
            options: [53, 1, 2, 52, 1, 3, 119, 7, 3, 0x6C, 0x61, 0x6E, 0, 0xC0, 0, 255])
        let corpus = [reply.encoded, overloaded]
        var understood = 0
        for _ in FuzzRounds(3000, sharedBy: 4) {
            var bytes = try #require(corpus.randomElement(using: &random))
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                // The decoder checks the first byte and the options, so these are changed most often.
                let place = random.chance(0.8) ? Int.random(in: 230..<bytes.count, using: &random) : 0
                bytes[random.chance(0.9) ? place : Int.random(in: 0..<bytes.count, using: &random)] =
                    UInt8.random(in: 0...255, using: &random)
            }
            if random.chance(0.2) { bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))) }
            do throws(PacketError) {
                let message = try DHCPMessage(decoding: bytes)
                _ = (message.options.searchDomains, message.options.staticRoutes, message.options.domainName)
                #expect(try DHCPMessage(decoding: message.encoded) == message)
                understood += 1
            } catch {
                #expect((0...bytes.count).contains(error.offset))
            }
        }
        #expect(understood > 500)
    }

    @Test("A damaged packet is rejected or decoded without a trap", arguments: 0..<2)
    func packets(seed: UInt64) throws {
        var random = Fuzzing.random(seed)
        let packet = DHCPPacket(source: IPv4Address(10, 0, 0, 1), destination: .broadcast, message: reply)
        let arp = ARPPacket.probe(for: IPv4Address(10, 0, 0, 9), from: .broadcast).encoded
        var (packets, resolutions) = (0, 0)
        for _ in FuzzRounds(2000, sharedBy: 2) {
            var bytes = packet.encoded
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if (try? DHCPPacket(decoding: bytes, verifiesChecksum: random.chance(0.5))) != nil { packets += 1 }
            var resolution = arp
            resolution[Int.random(in: 0..<arp.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            if let read = try? ARPPacket(decoding: resolution) {
                #expect(read.encoded == resolution)
                resolutions += 1
            }
        }
        #expect(packets > 500 && resolutions > 500)
    }
}
