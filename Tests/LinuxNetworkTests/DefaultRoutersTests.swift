import DNSWire
import PortMapping
import Testing

@testable import LinuxNetwork

@Suite struct DefaultRoutersTests {
    @Test("The gateways of an interface are read from the kernel's tables") func gatewaysAreRead() {
        let v4 = """
            Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
            eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
            eth0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0
            wlan0\t00000000\t0100000A\t0003\t0\t0\t200\t00000000\t0\t0\t0
            """
        #expect(DefaultRouters.version4(v4, "eth0") == [.v4(IPv4Address(192, 168, 1, 1))])
        let zero = String(repeating: "0", count: 32)
        let v6 = """
            \(zero) 00 \(zero) 00 fe8000000000000000000000000000aa 00000400 00000002 00000000 00000003     eth0
            fe800000000000000000000000000000 40 \(zero) 00 \(zero) 00000100 00000001 00000000 00000001     eth0
            \(zero) 00 \(zero) 00 \(zero) ffffffff 00000001 00000000 00200200       lo
            """
        let router = IPAddress(bytes: [0xFE, 0x80] + Array(repeating: 0, count: 13) + [0xAA])!
        #expect(DefaultRouters.version6(v6, "eth0") == [router])
    }

    @Test("The gateway is the router of the best default route, with this host's address on its link")
    func gateway() {
        let table = """
            Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
            wlan0\t00000000\t0100000A\t0003\t0\t0\t200\t00000000\t0\t0\t0
            eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
            eth0\t0001A8C0\t0201A8C0\t0003\t0\t0\t1\t00FFFFFF\t0\t0\t0
            """
        let flags: LinuxInterface.Flags = [.up, .running]
        func interface(_ name: String, _ addresses: [[UInt8]]) -> LinuxInterface {
            LinuxInterface(
                index: 1, name: name, flags: flags,
                addresses: addresses.map { LinuxAddress(bytes: $0, prefixLength: 24) })
        }
        let ethernet = interface("eth0", [[169, 254, 1, 1], [192, 168, 1, 7]])
        let radio = interface("wlan0", [[10, 0, 0, 9]])
        let home = Gateway(router: .v4(192, 168, 1, 1), host: .v4(192, 168, 1, 7))
        #expect(DefaultRouters.gateway(table, of: [radio, ethernet]) == home)
        #expect(
            DefaultRouters.gateway(table, of: [radio])
                == Gateway(router: .v4(10, 0, 0, 1), host: .v4(10, 0, 0, 9)))
        #expect(DefaultRouters.gateway(table, of: []) == nil)
        #expect(DefaultRouters.gateway(table, of: [interface("eth0", [[10, 9, 9, 9]])]) == nil)
        #expect(DefaultRouters.gateway("eth0\t00000000\tzz\n\n", of: [ethernet]) == nil)
    }

    @Test("The IPv6 gateway is the router of the best default route, with a global address of this host")
    func gateway6() {
        func route(_ router: String, _ metric: String, _ name: String, prefix: String = "00") -> String {
            let zero = String(repeating: "0", count: 32)
            return "\(zero) \(prefix) \(zero) 00 \(router) \(metric) 00000002 00000000 00000003     \(name)"
        }
        let router = "fe80" + String(repeating: "0", count: 27) + "1"
        let table = [
            route(router, "00000400", "eth0"),
            route("fe80" + String(repeating: "0", count: 27) + "2", "00000400", "eth0"),
            route(router, "00000100", "eth1"), route(router, "00000001", "eth0", prefix: "40"),
            route(String(repeating: "0", count: 32), "ffffffff", "eth0"),
        ].joined(separator: "\n")
        func address(_ first: UInt8, _ last: UInt8, isDeprecated: Bool = false) -> LinuxAddress {
            LinuxAddress(
                bytes: [first, 0x01] + Array(repeating: 0, count: 13) + [last], prefixLength: 64,
                isDeprecated: isDeprecated)
        }
        func interface(_ name: String, _ addresses: LinuxAddress...) -> LinuxInterface {
            LinuxInterface(index: 7, name: name, flags: [.up, .running], addresses: addresses)
        }
        let local = [address(0xFD, 1), address(0x20, 2, isDeprecated: true)]
        let home = interface("eth0", local[0], local[1], address(0x20, 3))
        let host = IPAddress.v6(IPv6Address(high: 0x2001 << 48, low: 3))
        let expected = Gateway(router: .v6(IPv6Address(high: 0xFE80 << 48, low: 1)), host: host, interface: 7)
        func gateway(_ interfaces: [LinuxInterface], keeping former: IPAddress? = nil) -> Gateway? {
            DefaultRouters.gateway6(table, of: interfaces, keeping: former)
        }
        #expect(gateway([home]) == expected)
        #expect(gateway([home, interface("eth1", local[0])]) == expected)
        #expect(gateway([interface("eth0", local[0], local[1])]) == nil)
        let moved = interface("eth0", address(0x20, 1), address(0x20, 3))
        #expect(gateway([moved], keeping: host) == expected && gateway([moved])?.host != host)
        #expect(DefaultRouters.gateway6("", of: [home], keeping: host) == nil)
    }

    @Test("Damaged tables have no gateways") func damagedTablesAreEmpty() {
        #expect(DefaultRouters.version4("eth0 x y\neth0\n", "eth0").isEmpty)
        #expect(DefaultRouters.version6("a b c d zz f g h i eth0\n", "eth0").isEmpty)
        let eth0 = LinuxInterface(index: 1, name: "eth0", flags: [.up, .running], addresses: [])
        #expect(DefaultRouters.gateway6("0 00 0 00 zz f g h i eth0\n\n", of: [eth0], keeping: nil) == nil)
    }
}
