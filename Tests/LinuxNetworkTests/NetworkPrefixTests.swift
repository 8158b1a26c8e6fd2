import DNSWire
import NIOCore
import NIOPosix
import Testing

@testable import LinuxNetwork

@Suite struct NetworkPrefixTests {
    private func prefix(_ address: IPAddress, _ length: UInt8) -> NetworkPrefix? {
        NetworkPrefix(LinuxAddress(bytes: address.bytes, prefixLength: length))
    }

    @Test("A network contains the addresses with its first bits") func addresses() throws {
        let home = try #require(prefix(.v4(192, 168, 1, 7), 24))
        #expect(home.contains(.v4(192, 168, 1, 200)) && !home.contains(.v4(192, 168, 2, 7)))
        let uneven = try #require(prefix(.v4(10, 0, 0, 1), 13))
        #expect(uneven.contains(.v4(10, 7, 255, 255)) && !uneven.contains(.v4(10, 8, 0, 0)))
        let single = try #require(prefix(.v4(10, 0, 0, 1), 32))
        #expect(single.contains(.v4(10, 0, 0, 1)) && !single.contains(.v4(10, 0, 0, 2)))
        let v6 = try #require(prefix(.v6(IPv6Address(high: 0x2001_0DB8_0000_0001, low: 7)), 64))
        #expect(v6.contains(.v6(IPv6Address(high: 0x2001_0DB8_0000_0001, low: .max))))
        #expect(
            !v6.contains(.v6(IPv6Address(high: 0x2001_0DB8_0000_0002, low: 7))) && !v6.contains(.v4(32, 1, 13, 184)))
        #expect(prefix(.v4(10, 0, 0, 1), 0) == nil && prefix(.v4(10, 0, 0, 1), 33) == nil)
    }

    @Test("A network is parsed from its address and its number of bits")
    func text() throws {
        let home = try #require(NetworkPrefix(text: "10.8.0.0/13"))
        #expect(home.contains(.v4(10, 15, 255, 255)) && !home.contains(.v4(10, 16, 0, 0)))
        let v6 = try #require(NetworkPrefix(text: "2001:db8:1::/48"))
        #expect(v6.contains(.v6(IPv6Address(high: 0x2001_0DB8_0001_FFFF, low: 7))))
        #expect(NetworkPrefix(text: "192.0.2.7/32") != nil)
        let wrong = [
            "", "10.0.0.0", "10.0.0.0/", "10.0.0.0/0", "10.0.0.0/33", "::/0", "10.8.0.1/24", "10.9.0.0/13",
            "10.0.0.0/8/8", "10.0.0.0/-8", "example.org/8", "2001:db8::/129", "2001:db8::1/64",
        ]
        for text in wrong { #expect(NetworkPrefix(text: text) == nil, "\(text)") }
    }

    @Test("A configured network counts as local, and other addresses do not")
    func configuredNetworks() throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let networks = LocalNetworks(and: [try #require(NetworkPrefix(text: "203.0.113.64/26"))], on: loop)
        defer { networks.stop() }
        #expect(networks.contain(try SocketAddress(ipAddress: "203.0.113.77", port: 1)))
        #expect(networks.contain(try SocketAddress(ipAddress: "::ffff:203.0.113.77", port: 1)))
        #expect(!networks.contain(try SocketAddress(ipAddress: "203.0.113.7", port: 1)))
    }

    @Test("An IPv4 peer of an IPv6 socket has its IPv4 address") func mappedAddresses() {
        #expect(IPAddress.v6(IPv6Address(high: 0, low: 0xFFFF_C000_0201)).unmapped == .v4(192, 0, 2, 1))
        #expect(IPAddress.v6(IPv6Address(high: 1, low: 0xFFFF_C000_0201)).unmapped.family == .v6)
    }

    @Test("Loopback and link-local addresses are always local, others are not before the first list")
    func localAddresses() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let networks = LocalNetworks(on: loop)
        defer { networks.stop() }
        for text in ["127.0.0.1", "::1", "fe80::1", "169.254.3.4", "::ffff:127.0.0.1"] {
            #expect(networks.contain(try SocketAddress(ipAddress: text, port: 1)), "\(text)")
        }
        // A documentation address (RFC 5737) is on no link of this host.
        #expect(!networks.contain(try SocketAddress(ipAddress: "203.0.113.77", port: 1)))
    }
}
