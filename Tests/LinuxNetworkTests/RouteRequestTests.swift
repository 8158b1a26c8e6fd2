import DNSWire
import Testing

@testable import LinuxNetwork

/// The expected bytes are those that `ip` sends (strace) on a little-endian host.
@Suite("Requests to rtnetlink")
struct RouteRequestTests {
    private let linkLocal = KernelAddress(
        interface: 3, address: .v4(169, 254, 7, 8), prefixLength: 16, broadcast: IPv4Address(169, 254, 255, 255),
        scope: .link)

    private func lifetimes(_ address: KernelAddress) -> [UInt8] {
        let bytes = RouteRequest.put(address).encoded(sequence: 1)
        return Array(bytes[(16 + 8 + 24 + 4)...].prefix(8))
    }

    @Test("A link-local address is added with broadcast address and mark, permanently and without a route")
    func address() {
        #expect(
            RouteRequest.put(linkLocal).encoded(sequence: 9) == [
                84, 0, 0, 0, 20, 0, 0x05, 0x05, 9, 0, 0, 0, 0, 0, 0, 0,
                2, 16, 0, 253, 3, 0, 0, 0,
                8, 0, 2, 0, 169, 254, 7, 8, 8, 0, 1, 0, 169, 254, 7, 8, 8, 0, 4, 0, 169, 254, 255, 255,
                20, 0, 6, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0,
                8, 0, 8, 0, 0, 2, 0, 0, 5, 0, 11, 0, 0x50, 0, 0, 0,
            ])
    }

    @Test("A lifetime is rounded up to whole seconds, at least 1 and below the value for no limit")
    func lease() {
        var address = linkLocal
        address.validFor = .milliseconds(3_599_001)
        #expect(lifetimes(address) == [16, 14, 0, 0, 16, 14, 0, 0])
        address.isPreferred = false
        #expect(lifetimes(address) == [0, 0, 0, 0, 16, 14, 0, 0])
        address.validFor = .zero
        #expect(lifetimes(address) == [0, 0, 0, 0, 1, 0, 0, 0])
        address.validFor = .seconds(1 << 40)
        #expect(lifetimes(address) == [0, 0, 0, 0, 254, 255, 255, 255])
    }

    @Test("An IPv6 address is added with its prefix length and scope")
    func addressV6() {
        let address = IPAddress.v6(IPv6Address(high: 0xFE80_0000_0000_0000, low: 1))
        let bytes = RouteRequest.put(
            KernelAddress(interface: 2, address: address, prefixLength: 64, scope: .link)
        ).encoded(sequence: 1)
        #expect(Array(bytes[16..<24]) == [10, 64, 0, 253, 2, 0, 0, 0])
        #expect(Array(bytes[24..<44]) == [20, 0, 2, 0, 0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1])
    }

    @Test("An address is removed by its value and prefix length")
    func removal() {
        #expect(
            RouteRequest.removeAddress(interface: 3, .v4(169, 254, 7, 8), prefixLength: 16).encoded(sequence: 2) == [
                40, 0, 0, 0, 21, 0, 0x05, 0, 2, 0, 0, 0, 0, 0, 0, 0,
                2, 16, 0, 0, 3, 0, 0, 0,
                8, 0, 2, 0, 169, 254, 7, 8, 8, 0, 1, 0, 169, 254, 7, 8,
            ])
    }

    @Test("A default route has its gateway, source and metric")
    func defaultRoute() {
        let route = InterfaceRoute(
            interface: 3, destination: IPv4Address(0, 0, 0, 0), prefixLength: 0, router: IPv4Address(192, 0, 2, 1),
            source: IPv4Address(192, 0, 2, 9), metric: 100)
        #expect(
            RouteRequest.add(route).encoded(sequence: 1) == [
                60, 0, 0, 0, 24, 0, 0x05, 0x0C, 1, 0, 0, 0, 0, 0, 0, 0,
                2, 0, 0, 0, 254, 0x50, 0, 1, 4, 0, 0, 0,
                8, 0, 4, 0, 3, 0, 0, 0, 8, 0, 5, 0, 192, 0, 2, 1, 8, 0, 7, 0, 192, 0, 2, 9, 8, 0, 6, 0, 100, 0, 0, 0,
            ])
    }

    @Test("A route without a gateway has link scope")
    func onLink() {
        let route = InterfaceRoute(
            interface: 3, destination: IPv4Address(169, 254, 0, 0), prefixLength: 16, metric: 1000)
        #expect(
            RouteRequest.remove(route).encoded(sequence: 1) == [
                52, 0, 0, 0, 25, 0, 0x05, 0, 1, 0, 0, 0, 0, 0, 0, 0,
                2, 16, 0, 0, 254, 0x50, 253, 1, 0, 0, 0, 0,
                8, 0, 1, 0, 169, 254, 0, 0, 8, 0, 4, 0, 3, 0, 0, 0, 8, 0, 6, 0, 0xE8, 3, 0, 0,
            ])
    }

    @Test("Setting a link up changes only the flag IFF_UP")
    func link() {
        #expect(
            RouteRequest.linkUp(interface: 3).encoded(sequence: 1) == [
                32, 0, 0, 0, 16, 0, 0x05, 0, 1, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,
            ])
    }

    @Test("The request that adds a route is parsed as the same route")
    func roundTrip() throws {
        let route = InterfaceRoute(
            interface: 3, destination: IPv4Address(10, 0, 0, 0), prefixLength: 8, router: IPv4Address(192, 0, 2, 1),
            source: IPv4Address(192, 0, 2, 9), metric: 100)
        let parsed = try parseNetlink(RouteRequest.add(route).encoded(sequence: 5))
        #expect(parsed.map(\.body) == [.route(RouteDescription(origin: 0x50, route: route))])
    }

    @Test("An error has the operation, the reason and a hint")
    func errors() {
        let error = RouteError(what: RouteRequest.put(linkLocal).description, code: 1)
        #expect("\(error)" == "cannot add 169.254.7.8/16: Operation not permitted")
        #expect(error.hint.contains("CAP_NET_ADMIN"))
    }
}
