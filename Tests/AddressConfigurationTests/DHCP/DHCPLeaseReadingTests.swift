import DNSWire
@testable import AddressConfiguration
import ProtocolCore
import Testing

@Suite("Data of a DHCP server")
struct DHCPLeaseReadingTests {
    private func lease(_ change: (inout DHCPMessage) -> Void) -> DHCPLease? {
        let request = DHCPMessage(operation: .request, transaction: 5, clientHardware: ownCard)
        var reply = FakeServer().reply(.ack, to: request)
        change(&reply)
        return DHCPLease(reply, obtained: .zero)
    }

    @Test("A lease with an address that no host can have is rejected")
    func addresses() {
        let refused = [
            IPv4Address(0, 0, 0, 0), IPv4Address(0, 1, 2, 3), IPv4Address(127, 0, 0, 1), IPv4Address(169, 254, 3, 3),
            IPv4Address(224, 0, 0, 1), IPv4Address(240, 0, 0, 1), IPv4Address(255, 255, 255, 255),
            IPv4Address(10, 0, 0, 0), IPv4Address(10, 0, 0, 255),
        ]
        for address in refused { #expect(lease { $0.yourAddress = address } == nil, "\(address)") }
        #expect(lease { $0.yourAddress = IPv4Address(223, 255, 255, 254) } != nil)
    }

    @Test("A lease without the address of its server or without a lease time is rejected")
    func required() {
        #expect(lease { $0.options.serverIdentifier = nil } == nil)
        #expect(lease { $0.options.serverIdentifier = .any } == nil)
        #expect(lease { $0.options.serverIdentifier = .broadcast } == nil)
        #expect(lease { $0.options.leaseTime = nil } == nil)
        #expect(lease { $0.options[.leaseTime] = [0, 1, 0] } == nil)
    }

    @Test("A missing or invalid mask is replaced by the mask of the address's class")
    func masks() {
        let cases: [(IPv4Address?, IPv4Address, UInt8)] = [
            (IPv4Address(255, 255, 240, 0), IPv4Address(10, 0, 0, 50), 20), (nil, IPv4Address(10, 0, 0, 50), 8),
            (nil, IPv4Address(172, 16, 0, 1), 16), (nil, IPv4Address(192, 168, 0, 1), 24),
            (IPv4Address(255, 0, 255, 0), IPv4Address(192, 168, 0, 1), 24), (.any, IPv4Address(10, 0, 0, 1), 8),
            (IPv4Address(254, 0, 0, 0), IPv4Address(10, 0, 0, 1), 8),
        ]
        for (mask, address, length) in cases {
            let read = lease {
                $0.yourAddress = address
                $0.options.subnetMask = mask
            }
            #expect(read?.prefixLength == length)
        }
    }

    @Test("A broadcast address other than the first or last address of the network is replaced by the last one")
    func broadcasts() {
        #expect(lease { _ in }?.broadcast == IPv4Address(10, 0, 0, 255))
        #expect(
            lease { $0.options.broadcastAddress = IPv4Address(10, 0, 0, 7) }?.broadcast == IPv4Address(10, 0, 0, 255))
        #expect(
            lease { $0.options.broadcastAddress = IPv4Address(10, 0, 0, 0) }?.broadcast == IPv4Address(10, 0, 0, 0))
        #expect(lease { $0.options.subnetMask = .mask(prefixLength: 32) }?.broadcast == .broadcast)
        #expect(lease { $0.options.subnetMask = .mask(prefixLength: 31) }?.broadcast == .broadcast)
    }

    @Test("A router is accepted if it is on the link or the mask has 32 bits, and at most four routers are read")
    func routers() {
        let told = [
            IPv4Address(10, 0, 1, 1), IPv4Address(10, 0, 0, 50), IPv4Address(10, 0, 0, 9), .any,
            IPv4Address(224, 0, 0, 1), IPv4Address(10, 0, 0, 1),
        ]
        #expect(lease { $0.options.routers = told }?.routers == [IPv4Address(10, 0, 0, 9), IPv4Address(10, 0, 0, 1)])
        let alone = lease {
            $0.options.routers = told
            $0.options.subnetMask = .mask(prefixLength: 32)
        }
        #expect(alone?.routers == [IPv4Address(10, 0, 1, 1), IPv4Address(10, 0, 0, 9), IPv4Address(10, 0, 0, 1)])
        let many = (1...20).map { IPv4Address(10, 0, 0, $0) }
        #expect(lease { $0.options.routers = many }?.routers.count == 4)
    }

    @Test("Classless routes replace the routers (RFC 3442)")
    func routes() {
        let router = IPv4Address(10, 0, 0, 2)
        let elsewhere = ClasslessRoute(destination: IPv4Address(10, 9, 0, 0), prefixLength: 16, router: router)
        let standard = ClasslessRoute(destination: .any, prefixLength: 0, router: router)
        let read = lease { $0.options.staticRoutes = [elsewhere, standard] }
        #expect(read?.routers == [router] && read?.routes == [elsewhere])
        #expect(lease { $0.options.staticRoutes = [elsewhere] }?.routers == [])
        // A malformed option counts as missing.
        #expect(lease { $0.options[.staticRoutes] = [33, 1] }?.routers == [firstServer])
    }

    @Test("A router is accepted only if a route without a router reaches it")
    func routerThroughRoute() {
        let router = IPv4Address(10, 5, 0, 1)
        let standard = ClasslessRoute(destination: .any, prefixLength: 0, router: router)
        let direct = ClasslessRoute(destination: router, prefixLength: 32, router: .any)
        let loopback = ClasslessRoute(
            destination: IPv4Address(127, 0, 0, 0), prefixLength: 8, router: firstServer)
        #expect(lease { $0.options.staticRoutes = [standard, loopback, direct] }?.routes == [direct])
        #expect(lease { $0.options.staticRoutes = [standard, direct] }?.routers == [router])
        #expect(lease { $0.options.staticRoutes = [standard, loopback] }?.routers == [])
        #expect(lease { $0.options.staticRoutes = [standard, loopback] }?.routes == [])
        let many = (0..<90).map {
            ClasslessRoute(destination: IPv4Address(10, $0, 0, 0), prefixLength: 16, router: .any)
        }
        #expect(lease { $0.options.staticRoutes = many }?.routes.count == 32)
    }

    @Test("Invalid addresses of name servers are skipped, and at most eight name servers are read")
    func servers() {
        let read = lease {
            $0.options.domainNameServers =
                [.any, IPv4Address(127, 0, 0, 1), .broadcast] + (1...20).map { IPv4Address(10, 0, 0, $0) }
            $0.options.ntpServers = [IPv4Address(10, 0, 0, 3)]
            $0.options.domainName = "lan"
            $0.options.searchDomains = ["a.example", "b.example"]
        }
        #expect(
            read?.servers
                == NetworkServers(
                    nameServers: (1...8).map { IPv4Address(10, 0, 0, $0) }, timeServers: [IPv4Address(10, 0, 0, 3)],
                    domain: "lan", searchDomains: ["a.example", "b.example"]))
    }

    @Test("The times of a lease are always in the order renewal, rebinding, end")
    func times() {
        let cases: [(UInt32, UInt32?, UInt32?, [Double])] = [
            (3600, nil, nil, [1800, 3150, 3600]), (3600, 600, 1200, [600, 1200, 3600]),
            (3600, 1200, 600, [2400.0 / 7, 600, 3600]), (3600, 3500, nil, [1800, 3150, 3600]),
            (3600, 4000, 5000, [1800, 3150, 3600]), (3600, 0, 0, [1800, 3150, 3600]),
            (3600, 1, 2, [1800, 3150, 3600]), (3600, nil, 700, [400, 700, 3600]),
            (3600, 0xFFFF_FFFF, 0xFFFF_FFFF, [1800, 3150, 3600]), (3600, 600, 600, [2400.0 / 7, 600, 3600]),
            (1, nil, nil, [5, 8.75, 10]), (9, 1, 2, [5, 8.75, 10]),
            (0xFFFF_FFFE, nil, nil, [1_296_000, 2_268_000, 2_592_000]),
        ]
        for (seconds, renewal, rebinding, expected) in cases {
            let read = lease {
                $0.options.leaseTime = seconds
                $0.options.renewalTime = renewal
                $0.options.rebindingTime = rebinding
            }
            let times = [read?.renewal, read?.rebinding, read?.duration].map { $0?.inSeconds ?? .nan }
            #expect(zip(times, expected).allSatisfy { abs($0 - $1) < 0.000_001 }, "\(seconds): \(times)")
        }
        #expect(lease { $0.options.leaseTime = 0xFFFF_FFFF }?.duration == nil)
        #expect(lease { $0.options.leaseTime = 0xFFFF_FFFF }?.renewal == nil)
        #expect(lease { $0.options.leaseTime = 0 } == nil)
    }
}
