import AddressConfiguration
import DNSWire
import ProtocolCore
import Testing

@Suite("An interface whose DHCP server appears and disappears")
struct RoutableAddressTests {
    private let leased = IPv4Address(192, 0, 2, 50)

    private func theirs(_ address: IPv4Address) -> ARPPacket { .announcement(of: address, from: Bench.other) }

    /// Creates a bench that held a link-local address when the server appeared and gave a lease.
    private func overtaken(inUse: Bool) -> (bench: Bench, linkLocal: IPv4Address) {
        var bench = Bench.held()
        let linkLocal = bench.linkLocal!
        if inUse { bench.send(.inUse([linkLocal])) }
        bench.server = TestServer()
        while bench.assigned[leased] == nil { bench.run(for: .milliseconds(100)) }
        return (bench, linkLocal)
    }

    @Test("A leased address is probed, and assigned after 600 ms")
    func aLeaseIsProbedForAndThereAfter600Milliseconds() throws {
        var bench = Bench()
        bench.server = TestServer()
        let start = bench.now
        bench.send(.linkUp)
        bench.run(for: .seconds(10))
        let own = try #require(bench.assigned[leased])
        #expect(bench.time { if case .assign = $0 { true } else { false } } == start + .milliseconds(600))
        #expect(own.prefixLength == 24 && own.scope == .global && own.isPreferred)
        #expect(own.validFor == .seconds(3600) - .milliseconds(600))
        let about = bench.arp.map(\.packet).filter { $0.targetAddress == leased }
        #expect(
            about == Array(repeating: .probe(for: leased, from: Bench.mine), count: 3)
                + Array(repeating: .announcement(of: leased, from: Bench.mine), count: 2))
    }

    @Test("A link-local claim in progress is abandoned when a lease arrives")
    func aClaimThatHasNotEndedIsAbandonedForALease() {
        let bench = Bench.leased()
        #expect(bench.linkLocal == nil && bench.machine.status.linkLocal == .none)
        // The kernel answers ARP requests for the lease, like for any routable address.
        #expect(bench.kernelAnswersARP == true)
        #expect(bench.arp.filter { IPAddress.v4($0.packet.targetAddress).isLinkLocal }.count <= 1)
    }

    @Test("The routes lead to the lease's network, its router and link-local neighbours")
    func theLeasesRoutesLeadToItsNetworkItsRouterAndNeighboursWithoutALease() {
        let bench = Bench.leased()
        #expect(
            Set(bench.routes) == [
                Route(destination: IPv4Address(192, 0, 2, 0), prefixLength: 24, source: leased, metric: 100),
                Route(
                    destination: .any, prefixLength: 0, router: TestServer.address, source: leased, metric: 100),
                Route(destination: RFC3927.prefix, prefixLength: 16, source: leased, metric: 2100),
            ])
        #expect(bench.handedOn == [nil, NetworkServers(nameServers: [TestServer.address])])
        #expect(
            bench.remembered.last
                == RememberedAddresses(lease: RememberedLease(address: leased, server: TestServer.address)))
    }

    @Test("A router outside the network gets its own route") func aRouterOutsideTheNetworkGetsARouteOfItsOwn() {
        var server = TestServer()
        server.routers = [IPv4Address(203, 0, 113, 1)]
        server.prefixLength = 32
        let bench = Bench.leased(by: server)
        #expect(
            bench.routes.contains(
                Route(destination: IPv4Address(203, 0, 113, 1), prefixLength: 32, source: leased, metric: 100)))
        #expect(
            bench.routes.contains(
                Route(
                    destination: .any, prefixLength: 0, router: IPv4Address(203, 0, 113, 1), source: leased, metric: 100
                )))
    }

    @Test("The link-local address is kept as deprecated for 30 seconds")
    func theLinkLocalAddressIsKeptHalfAMinuteAsDeprecated() throws {
        var (bench, linkLocal) = overtaken(inUse: false)
        #expect(
            bench.assigned[linkLocal]?.isPreferred == false && bench.machine.status.linkLocal == .deprecated(linkLocal))
        #expect(bench.kernelAnswersARP == false)
        bench.clear()
        bench.hear(
            ARPPacket(
                operation: .request, senderHardware: Bench.other, senderAddress: IPv4Address(192, 0, 2, 9),
                targetHardware: .zero, targetAddress: leased))
        #expect(bench.arp.contains { $0.packet.operation == .reply && $0.packet.senderAddress == leased })
        bench.run(for: .milliseconds(29_500))
        #expect(bench.linkLocal == linkLocal)
        bench.run(for: .seconds(1))
        #expect(bench.linkLocal == nil && bench.kernelAnswersARP == true)
        #expect(bench.assigned[leased] != nil)
    }

    @Test("A deprecated address is kept while it has a connection") func itStaysAsLongAsAConnectionIsOnIt() {
        var (bench, linkLocal) = overtaken(inUse: true)
        bench.run(for: .seconds(24 * 3600))
        #expect(bench.linkLocal == linkLocal && bench.assigned[leased] != nil)
        bench.send(.inUse([]))
        #expect(bench.linkLocal == nil)
    }

    @Test("A deprecated address is defended once, and removed without a replacement after the second conflict")
    func aDeprecatedAddressIsDefendedAndNotReplaced() {
        var (bench, linkLocal) = overtaken(inUse: true)
        bench.clear()
        bench.hear(theirs(linkLocal))
        #expect(bench.arp.map(\.packet) == [.announcement(of: linkLocal, from: Bench.mine)])
        bench.hear(theirs(linkLocal))
        bench.run(for: .seconds(60))
        #expect(bench.linkLocal == nil && bench.probed.isEmpty)
    }

    @Test("After the end of the lease, the previous link-local address is claimed again")
    func aLeaseThatEndsMakesRoomForTheLinkLocalAddressOfBefore() throws {
        var (bench, linkLocal) = overtaken(inUse: false)
        bench.run(for: .seconds(60))
        bench.server = nil
        bench.clear()
        bench.run(for: .seconds(3600))
        #expect(bench.assigned.keys.map { $0 } == [linkLocal])
        #expect(bench.probed == [linkLocal])
        #expect(bench.notices.contains(.leaseLost(leased, .expired)))
        #expect(bench.handedOn == [nil])
        #expect(bench.routes.allSatisfy { $0.source == linkLocal && $0.router == nil })
        // The server returns.
        bench.server = TestServer()
        bench.run(for: .seconds(120))
        #expect(bench.assigned[leased] != nil && bench.linkLocal == nil)
    }

    @Test("A deprecated address is preferred again at once when the lease ends")
    func aDeprecatedAddressIsPreferredAgainAtOnceWhenTheLeaseEnds() throws {
        var (bench, linkLocal) = overtaken(inUse: true)
        bench.server?.refuses = true
        bench.clear()
        while bench.assigned[leased] != nil { bench.run(for: .seconds(1)) }
        #expect(bench.assigned[linkLocal]?.isPreferred == true && bench.probed.isEmpty)
        #expect(bench.remembered.last?.lease == nil)
    }

    @Test("An offered address that a different host has is declined, and the next one is used")
    func anAddressThatSomebodyHasIsDeclinedAndTheNextOneTaken() throws {
        var bench = Bench()
        bench.server = TestServer()
        bench.send(.linkUp)
        bench.run(for: .milliseconds(300))
        bench.hear(.reply(to: .probe(for: leased, from: Bench.mine), from: Bench.other))
        bench.run(for: .seconds(60))
        #expect(bench.server?.declined == [leased])
        #expect(bench.assigned[IPv4Address(192, 0, 2, 51)] != nil && bench.assigned[leased] == nil)
        #expect(bench.notices.contains(.conflict(leased, with: Bench.other)))
    }

    @Test("A leased address is defended at the first conflict, and the lease is declined at the second one")
    func aLeaseThatIsTakenLaterIsDefendedOnceAndThenDeclined() throws {
        var bench = Bench.leased()
        bench.clear()
        bench.hear(theirs(leased))
        #expect(bench.arp.map(\.packet) == [.announcement(of: leased, from: Bench.mine)])
        #expect(bench.assigned[leased] != nil)
        bench.hear(theirs(leased))
        #expect(bench.assigned[leased] == nil && bench.server?.declined == [leased])
        #expect(bench.notices.contains(.leaseLost(leased, .conflict)))
    }

    @Test("A renewal changes only the lifetime") func aRenewalChangesNothingButTheLifetime() throws {
        var bench = Bench.leased()
        bench.clear()
        bench.run(for: .seconds(2000))
        let actions = bench.log.map(\.action).filter { if case .sendDHCP = $0 { false } else { true } }
        guard case .assign(let own)? = actions.first, actions.count == 1 else {
            Issue.record("\(actions)")
            return
        }
        #expect(own.address == leased && own.validFor == .seconds(3600))
    }

    @Test("While the kernel rejects a lease, a link-local address is used")
    func whileTheKernelRefusesALeaseThereIsALinkLocalAddress() throws {
        var bench = Bench.leased()
        bench.refuses = true
        bench.send(.assignmentFailed(leased, reason: "EPERM"))
        bench.run(for: .seconds(20))
        #expect(bench.machine.status.linkLocal != .none)
        bench.refuses = false
        bench.run(for: .seconds(120))
        #expect(bench.assigned[leased] != nil && bench.linkLocal == nil)
    }

    @Test("After power-on the first message is sent after a random delay of up to one second")
    func afterPowerOnTheFirstMessageIsSpreadOverASecond() throws {
        func first(_ isPowerOn: Bool, seed: UInt64) throws -> Duration {
            var bench = Bench(isPowerOn: isPowerOn, seed: seed)
            let start = bench.now
            bench.send(.linkUp)
            bench.run(for: .seconds(2))
            return try #require(bench.time { if case .broadcastDHCP = $0 { true } else { false } }) - start
        }
        let times = try (1...200 as ClosedRange<UInt64>).map { try first(true, seed: $0) }
        #expect(times.allSatisfy { (.zero ... .seconds(1)).contains($0) })
        #expect(times.min()! < .milliseconds(50) && times.max()! > .milliseconds(950))
        #expect(try first(false, seed: 1) == .zero)
    }

    @Test("After a change of the hardware address, the same lease is requested")
    func anotherCardAsksForTheSameLease() throws {
        var bench = Bench.leased()
        bench.clear()
        bench.send(.hardwareAddressChanged(Bench.other))
        #expect(bench.assigned.isEmpty)
        bench.run(for: .seconds(10))
        #expect(bench.assigned[leased] != nil)
        #expect(bench.arp.allSatisfy { $0.packet.senderHardware == Bench.other })
    }
}
