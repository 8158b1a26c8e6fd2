import DNSWire
import Testing

@testable import LinuxNetwork

@Suite("Netlink messages")
struct NetlinkParserTests {
    private static let sample = NetlinkBuilder.datagram {
        $0.link(2, "eth0", sequence: 7)
        $0.address(2, [192, 0, 2, 1], 24, sequence: 7)
        $0.address(3, [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1], 64, flags: 0xC0, sequence: 7)
        $0.done(7)
    }

    @Test("Links and addresses are parsed")
    func sample() throws {
        let messages = try parseNetlink(Self.sample)
        #expect(messages.map(\.sequence) == [7, 7, 7, 7])
        let link = LinkDescription(
            index: 2, flags: [.up, .running, .multicast, .init(rawValue: 2)], name: "eth0",
            hardwareAddress: [2, 0, 0, 0, 0, 1], carrierChanges: 1)
        let tentative = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
        #expect(
            messages.map(\.body) == [
                .link(link), .address(index: 2, LinuxAddress(bytes: [192, 0, 2, 1], prefixLength: 24)),
                .address(index: 3, LinuxAddress(bytes: tentative, prefixLength: 64, state: .tentative)), .done,
            ])
    }

    @Test("A message of the bridge family does not describe the link")
    func bridgePort() throws {
        let datagram = NetlinkBuilder.datagram { $0.link(2, "eth0", family: 7, removed: true) }
        #expect(try parseNetlink(datagram).map(\.body) == [.other])
    }

    @Test("On a point-to-point link the local address is used, not the peer's")
    func pointToPoint() throws {
        let datagram = NetlinkBuilder.datagram { $0.address(4, [10, 0, 0, 2], 32, local: [10, 0, 0, 1]) }
        let own = LinuxAddress(bytes: [10, 0, 0, 1], prefixLength: 32)
        #expect(try parseNetlink(datagram).map(\.body) == [.address(index: 4, own)])
    }

    @Test("An optimistic address is usable, and a duplicate one is not")
    func addressFlags() throws {
        let address = [UInt8](repeating: 1, count: 16)
        let states: [(UInt32, LinuxAddress.State)] = [
            (0xC0, .tentative), (0xC4, .usable), (0x88, .duplicate), (0xC8, .duplicate), (0xA0, .usable),
            (0x180, .usable),
        ]
        for (flags, state) in states {
            let datagram = NetlinkBuilder.datagram { $0.address(1, address, 64, flags: flags) }
            let expected = LinuxAddress(
                bytes: address, prefixLength: 64, state: state, isDeprecated: flags & 0x20 != 0)
            #expect(try parseNetlink(datagram).map(\.body) == [.address(index: 1, expected)])
        }
    }

    @Test("The mark determines the origin; without a mark, an IPv6 address with a lifetime is the kernel's")
    func origins() throws {
        let origins: [(mark: UInt8?, flags: UInt32, LinuxAddress.Origin)] = [
            (1, 0x80, .kernel), (2, 0, .kernel), (3, 0x80, .kernel), (0x50, 0x80, .plug), (0x50, 0, .plug),
            (16, 0x80, .unknown), (nil, 0x80, .unknown), (nil, 0, .kernel),
        ]
        for (mark, flags, origin) in origins {
            let address = [UInt8](repeating: 1, count: 16)
            let datagram = NetlinkBuilder.datagram { $0.address(1, address, 64, flags: flags, mark: mark) }
            let expected = LinuxAddress(bytes: address, prefixLength: 64, origin: origin)
            #expect(try parseNetlink(datagram).map(\.body) == [.address(index: 1, expected)])
        }
        let leased = NetlinkBuilder.datagram { $0.address(1, [192, 0, 2, 7], 24, flags: 0) }
        let expected = LinuxAddress(bytes: [192, 0, 2, 7], prefixLength: 24)
        #expect(try parseNetlink(leased).map(\.body) == [.address(index: 1, expected)])
    }

    @Test("A neighbour is parsed with the time of its last answer; one that never answered is not reported")
    func neighbours() throws {
        let card: [UInt8] = [2, 0, 0, 0, 0, 7]
        let bytes = NetlinkBuilder.datagram {
            $0.neighbour(2, [192, 0, 2, 7], card, age: 250)
            $0.neighbour(2, [192, 0, 2, 8], card, state: 1)
            $0.neighbour(2, [192, 0, 2, 9], [1, 2, 3, 4])
        }
        let bodies = try parseNetlink(bytes).map(\.body)
        let known = Neighbour(
            interface: 2, address: .v4(192, 0, 2, 7), card: MACAddress(2, 0, 0, 0, 0, 7), confirmed: .seconds(2.5))
        #expect(bodies == [.neighbour(known), .other, .other])
    }

    @Test("A refusal is parsed with its error number")
    func refusal() throws {
        #expect(
            try parseNetlink(NetlinkBuilder.datagram { $0.refused(3, code: 16) }).map(\.body) == [.refused(code: 16)])
    }

    @Test("A malformed message is an error with its offset")
    func faults() {
        #expect(throws: NetlinkError(offset: 0, reason: .truncatedHeader)) { try parseNetlink([1, 2, 3]) }
        var bytes = Self.sample
        bytes[0] = 15
        #expect(throws: NetlinkError(offset: 0, reason: .badLength(15))) { try parseNetlink(bytes) }
        bytes = Self.sample
        bytes[32] = 3  // the length of the first attribute
        #expect(throws: NetlinkError(offset: 32, reason: .badAttributeLength(3))) { try parseNetlink(bytes) }
        let wrongSize = NetlinkBuilder.datagram { $0.address(1, [1, 2, 3, 4], 8, local: [1, 2, 3]) }
        #expect(throws: NetlinkError(offset: 16, reason: .badAddress)) { try parseNetlink(wrongSize) }
    }

    @Test("A truncated datagram is an error or has fewer messages")
    func cuts() {
        for length in 0..<Self.sample.count {
            let messages = try? parseNetlink(Array(Self.sample.prefix(length)))
            #expect(messages.map { $0.count < 4 } ?? true, "cut at \(length)")
        }
    }
}
