import DNSWire
import ProtocolCore
import Testing

@testable import PortMapping

struct PortMapperTests {
    @Test("A port is mapped with two packets by PCP, and removed with two")
    func pcp() {
        var home = VirtualHome(.pcp)
        home.connect()
        home.run(for: .seconds(1))
        #expect(home.mapping == PortMapping(address: .v4(203, 0, 113, 1), port: 4711) && home.sent.count == 1)
        home.handle(.stop)
        home.run(for: .seconds(1))
        #expect(home.isStopped && home.router.entries.isEmpty && home.sent.count == 2 && home.nextDeadline == nil)
    }

    @Test("A router without PCP is asked by NAT-PMP, whether it rejects PCP or ignores it")
    func natpmp() {
        var home = VirtualHome(.natpmp)
        home.connect()
        home.run(for: .seconds(1))
        #expect(home.isConsistent && home.sent.map(\.count) == [60, 2, 12])
        home.handle(.stop)
        home.run(for: .seconds(1))
        #expect(home.isStopped && home.router.entries.isEmpty)
        var deaf = VirtualHome(.natpmp)
        var count = 0
        deaf.isLost = {
            count += 1
            return count <= 3
        }
        deaf.connect()
        deaf.run(for: .seconds(30))
        #expect(deaf.isConsistent)
    }

    @Test("The router may choose a different port") func takenPort() {
        for kind in [VirtualRouter.Kind.pcp, .natpmp, .device] {
            var home = VirtualHome(kind)
            home.router.taken = [4711, 4712]
            home.connect()
            home.run(for: .seconds(60))
            #expect(home.mapping?.port == 4713 && home.isConsistent)
        }
    }

    @Test("A mapping is renewed at half of its lifetime, with few packets") func renewal() {
        for kind in [VirtualRouter.Kind.pcp, .natpmp] {
            var home = VirtualHome(kind)
            home.connect()
            home.run(for: .seconds(86_400))
            #expect(home.isConsistent && home.failures.isEmpty && home.sent.count < 60)
            home.router.longestLifetime = 1
            home.restart()
            home.run(for: .seconds(3600))
            #expect(home.sent.count < 60 + 3600 / 25, "a short lifetime causes no storm")
        }
    }

    @Test("A router that restarts gets the mapping again within a second") func restart() {
        for kind in [VirtualRouter.Kind.pcp, .natpmp] {
            var home = VirtualHome(kind)
            home.connect()
            home.run(for: .seconds(100))
            home.restart(address: .v4(203, 0, 113, 9))
            home.run(for: .seconds(1))
            #expect(home.isConsistent && home.mapping?.address == .v4(203, 0, 113, 9) && home.failures.isEmpty)
        }
    }

    @Test("A new external address that NAT-PMP announces is used within a second") func newAddress() {
        var home = VirtualHome(.natpmp)
        home.connect()
        home.run(for: .seconds(100))
        home.router.external = .v4(203, 0, 113, 8)
        home.announce()
        home.run(for: .seconds(1))
        #expect(home.isConsistent)
    }

    @Test("A router that restarts every second causes at most three packets per second") func frequentRestarts() {
        var home = VirtualHome(.natpmp)
        home.connect()
        for _ in 0..<100 {
            home.run(for: .milliseconds(200))
            home.announce()
            home.run(for: .milliseconds(800))
            home.restart()
        }
        #expect(home.sent.count < 300)
    }

    @Test("A router that is silent, that refuses, or that another router hides is reported once, and asked again")
    func failures() {
        let cases: [(VirtualRouter.Kind, PortMappingFailure)] = [
            (.silent, .noAnswer), (.refuses(code: 2), .refused(code: 2)), (.refuses(code: 12), .addressMismatch),
        ]
        for (kind, failure) in cases {
            var home = VirtualHome(kind)
            home.connect()
            home.run(for: .seconds(86_400))
            #expect(home.failures == [failure] && home.sent.count < 400)
            home.router.kind = .pcp
            home.run(for: .seconds(3700))
            #expect(home.isConsistent)
        }
        var home = VirtualHome(.pcp)
        home.connect(nil)
        home.connect(nil)
        #expect(home.failures == [.noRouter] && home.sent.isEmpty)
        home.handle(.stop)
        #expect(home.isStopped)
    }

    @Test("A router without a program at its port is reported at once") func refused() {
        var home = VirtualHome(.silent)
        home.connect()
        home.handle(.refused)
        #expect(home.sent.map(\.count) == [60, 2] && home.failures.isEmpty)
        home.handle(.refused)
        home.run(for: .seconds(4))
        #expect(home.failures == [.noAnswer])
        // An error without a request is ignored.
        let count = home.sent.count
        home.handle(.refused)
        #expect(home.failures == [.noAnswer] && home.sent.count == count)
    }

    @Test("A router with UPnP only is found, described and used") func device() {
        var home = VirtualHome(.device)
        home.connect()
        home.run(for: .seconds(60))
        #expect(home.isConsistent && home.mapping?.port == 4711 && home.failures.isEmpty)
        home.run(for: .seconds(86_400))
        #expect(home.isConsistent && home.failures.isEmpty && home.sent.count < 80)
        home.handle(.stop)
        home.run(for: .seconds(5))
        #expect(home.isStopped && home.router.entries.isEmpty && home.nextDeadline == nil)
    }

    @Test("A taken port and a router with permanent mappings only do not make UPnP fail") func deviceErrors() {
        var home = VirtualHome(.device)
        home.router.taken = [4711, 4712]
        home.router.leasesForever = true
        home.connect()
        home.run(for: .seconds(60))
        #expect(home.isConsistent && home.mapping?.port == 4713)
        home.handle(.stop)
        home.run(for: .seconds(5))
        #expect(home.isStopped && home.router.entries.isEmpty)
        var full = VirtualHome(.device)
        full.router.taken = Set(4711...4999)
        full.connect()
        full.run(for: .seconds(60))
        #expect(full.failures == [.refused(code: 718)] && full.sent.count < 40)
    }

    @Test(
        "A description elsewhere, and answers that make no sense, are rejected",
        arguments: [
            "http://192.168.1.9:5000/root.xml", "https://192.168.1.1:5000/root.xml", "http://192.168.1.1:0/root.xml",
            "http://192.168.1.1:5000/other.xml", "http://192.168.1.1:5000/a b", "",
        ])
    func wrongLocation(location: String) {
        var home = VirtualHome(.device)
        home.router.location = location
        home.connect()
        home.run(for: .seconds(60))
        #expect(home.failures == [.noAnswer] && home.mapping == nil)
    }

    @Test("A service on another host, and an external address that cannot be parsed, are rejected") func wrongService()
    {
        var home = VirtualHome(.device)
        home.router.controlURL = "http://10.0.0.1:5000/ctl/IPConn"
        home.connect()
        home.run(for: .seconds(60))
        #expect(home.failures == [.noAnswer])
        for text in ["", "1.2.3", "1.2.3.256", "a.b.c.d", "0.0.0.0", "-1.2.3.4"] {
            var home = VirtualHome(.device)
            home.router.externalText = text
            home.connect()
            home.run(for: .seconds(60))
            #expect(home.failures == [.implausible], "\(text)")
        }
    }

    @Test(
        "A damaged HTTP response is rejected",
        arguments: [
            "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 x\r\n\r\n", "SPDY 200\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        ])
    func damagedResponse(text: String) { #expect(DeviceResponse(Array(text.utf8)) == nil) }

    @Test("A lost router is reported when the mapping has expired") func lostRouter() {
        var home = VirtualHome(.pcp)
        home.connect()
        home.run(for: .seconds(10))
        home.router.kind = .silent
        home.run(for: .seconds(7000))
        #expect(home.mapping != nil)
        home.run(for: .seconds(300))
        #expect(home.mapping == nil && home.failures == [.noAnswer])
    }

    @Test("A different network invalidates the mapping") func networkChange() {
        var home = VirtualHome(.pcp)
        home.connect()
        home.run(for: .seconds(10))
        home.connect(Gateway(router: .v4(10, 0, 0, 1), host: .v4(10, 0, 0, 2)))
        #expect(home.failures == [.networkChanged])
        home.run(for: .seconds(1))
        #expect(home.mapping != nil)
        home.connect(nil)
        #expect(home.mapping == nil && home.failures == [.networkChanged, .noRouter])
    }

    @Test("A port of an IPv6 host is opened by PCP only") func pinhole() {
        let gateway = Gateway(
            router: .v6(IPv6Address(high: 0xFE80 << 48, low: 1)),
            host: .v6(IPv6Address(high: 0x2001_0DB8 << 32, low: 7)))
        var home = VirtualHome(.pcp)
        home.router.external = gateway.host
        home.connect(gateway)
        home.run(for: .seconds(1))
        #expect(home.mapping == PortMapping(address: gateway.host, port: 4711))
        var silent = VirtualHome(.silent)
        silent.connect(gateway)
        silent.run(for: .seconds(60))
        #expect(silent.failures == [.noAnswer] && silent.sent.allSatisfy { $0.count == 60 })
        #expect(silent.failures[0].reason(over: .v6) == "the IPv6 router does not answer in PCP")
        #expect(silent.failures[0].hint(over: .v6) != silent.failures[0].hint(over: .v4))
    }

    @Test(
        "Addresses and ports that a router cannot have are rejected",
        arguments: [
            IPAddress.v4(0, 0, 0, 0), .v4(127, 0, 0, 1), .v4(224, 0, 0, 1), .v4(255, 255, 255, 255),
            .v4(169, 254, 1, 1),
            .v6(IPv6Address(high: 0, low: 0)), .v6(IPv6Address(high: 0, low: 1)),
            .v6(IPv6Address(high: 0xFF02 << 48, low: 1)),
        ])
    func implausible(address: IPAddress) {
        var home = VirtualHome(.pcp)
        home.router.external = address
        home.connect()
        home.run(for: .seconds(5))
        #expect(home.failures == [.implausible] && home.mapping == nil)
    }

    @Test("An address that is private or shared means that a second router follows") func twoRouters() {
        let hidden: [IPAddress] = [.v4(10, 1, 1, 1), .v4(172, 16, 0, 1), .v4(192, 168, 0, 1), .v4(100, 64, 0, 1)]
        let open: [IPAddress] = [.v4(203, 0, 113, 1), .v4(172, 32, 0, 1), .v4(100, 128, 0, 1), .v4(11, 0, 0, 1)]
        #expect(hidden.allSatisfy { !PortMapping(address: $0, port: 1).isPublic })
        #expect(open.allSatisfy { PortMapping(address: $0, port: 1).isPublic })
    }

    @Test("Messages that are not the answer are ignored") func unrelated() {
        var home = VirtualHome(.pcp)
        home.isLost = { true }
        home.connect()
        guard let request = home.sent.first else {
            Issue.record("no request")
            return
        }
        var router = VirtualRouter(.pcp)
        let valid = router.answer(request, from: VirtualHome.gateway.host, now: .zero) ?? []
        // The version, the operation, the protocol, the nonce and the internal port.
        for index in [0, 1, 24, 35, 36, 40, 41] {
            var forged = valid
            forged[index] ^= 1
            home.handle(.received(forged))
        }
        for count in valid.indices { home.handle(.received(Array(valid[..<count]))) }
        #expect(home.mapping == nil && home.failures.isEmpty)
        home.handle(.received(valid))
        #expect(home.mapping != nil)
    }

    /// The router restarts, changes its address and its protocol, and loses messages. Whenever all is quiet for an hour,
    /// the mapping is the one that the router has. After a stop, the router has no mapping.
    @Test("A mapping survives 10,000 restarts of routers", arguments: UInt64(1)...100)
    func randomRestarts(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var losses = random.split()
        var home = VirtualHome(random.chance(0.5) ? .pcp : .natpmp, seed: seed)
        home.connect()
        for _ in 0..<100 {
            home.isLost = { losses.chance(0.2) }
            if random.chance(0.2) { home.router.kind = random.chance(0.5) ? .pcp : .natpmp }
            home.restart(address: random.chance(0.5) ? .v4(203, 0, 113, .random(in: 1...200, using: &random)) : nil)
            home.run(for: random.duration(in: .zero...(.seconds(4000))))
            guard random.chance(0.1) else { continue }
            home.isLost = { false }
            home.run(for: .seconds(12_000))
            #expect(home.isConsistent)
        }
        home.isLost = { false }
        home.run(for: random.duration(in: .zero...(.seconds(10))))
        home.handle(.stop)
        home.run(for: .seconds(5))
        #expect(home.isStopped && home.router.entries.isEmpty && home.nextDeadline == nil)
    }
}
