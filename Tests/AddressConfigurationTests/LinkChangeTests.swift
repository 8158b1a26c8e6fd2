import AddressConfiguration
import DNSWire
import ProtocolCore
import Testing

@Suite("A link that is lost and returns")
struct LinkChangeTests {
    private func theirs(_ address: IPv4Address) -> ARPPacket { .announcement(of: address, from: Bench.other) }

    private func lostAndBack(inUse: Bool = false) -> (bench: Bench, address: IPv4Address) {
        var bench = Bench.held()
        let address = bench.linkLocal!
        if inUse { bench.send(.inUse([address])) }
        bench.send(.linkDown)
        bench.run(for: .seconds(3))
        bench.clear()
        bench.send(.linkUp)
        return (bench, address)
    }

    @Test("Without a link, only an address with a connection is kept", arguments: [true, false])
    func anAddressWithAConnectionStaysWhileThereIsNoLink(isInUse: Bool) throws {
        var bench = Bench.held()
        let address = try #require(bench.linkLocal)
        if isInUse { bench.send(.inUse([address])) }
        bench.send(.linkDown)
        #expect(bench.linkLocal == (isInUse ? address : nil))
        bench.run(for: .seconds(24 * 3600))
        #expect(bench.linkLocal == (isInUse ? address : nil) && bench.arp.isEmpty)
        #expect(bench.machine.status == AddressingStatus(linkLocal: .none, dhcp: .off, conflicts: 0))
        #expect(bench.machine.nextDeadline == nil)
    }

    @Test("The previous address is probed again before it is used")
    func theOldAddressIsProbedForFirstAndUsedOnlyThen() throws {
        var (bench, address) = lostAndBack()
        #expect(bench.assigned.isEmpty)
        bench.run(for: .seconds(10))
        #expect(bench.probed == [address] && bench.linkLocal == address)
        let assigned = try #require(bench.index { if case .assign = $0 { true } else { false } })
        let announced = try #require(bench.index { $0 == .sendARP(.announcement(of: address, from: Bench.mine)) })
        #expect(assigned < announced && bench.arp.prefix(3).allSatisfy { $0.packet.isProbe })
    }

    @Test("On a network where the address is taken, a new one is claimed")
    func onAnotherNetworkWhereItIsTakenAnotherIsClaimed() throws {
        var (bench, address) = lostAndBack()
        bench.run(for: .seconds(2))
        bench.hear(.reply(to: .probe(for: address, from: Bench.mine), from: Bench.other))
        bench.run(for: .seconds(10))
        #expect(bench.linkLocal != nil && bench.linkLocal != address)
    }

    @Test("An address with a connection stays on the interface, but is not announced until it is verified")
    func anAddressWithAConnectionLingersSilently() throws {
        var (bench, address) = lostAndBack(inUse: true)
        #expect(bench.linkLocal == address && bench.kernelAnswersARP == false)
        bench.run(for: .seconds(2))
        bench.hear(
            ARPPacket(
                operation: .request, senderHardware: Bench.other, senderAddress: IPv4Address(169, 254, 3, 3),
                targetHardware: .zero, targetAddress: address))
        #expect(bench.arp.allSatisfy { $0.packet.isProbe })
        bench.run(for: .seconds(10))
        #expect(bench.linkLocal == address && bench.probed == [address])
        #expect(bench.arp.suffix(2).allSatisfy { $0.packet == .announcement(of: address, from: Bench.mine) })
        // The address was never removed.
        #expect(!bench.log.contains { $0.action == .remove(address) })
        #expect(bench.routes.count == 2)
    }

    @Test("An address with a connection that is not verified yet is removed at the first conflict")
    func aLingeringAddressGoesAtTheFirstConflict() throws {
        var (bench, address) = lostAndBack(inUse: true)
        bench.run(for: .seconds(1))
        bench.hear(theirs(address))
        #expect(bench.linkLocal == nil && bench.routes.isEmpty)
        #expect(bench.machine.status.conflicts == 1)
        bench.run(for: .seconds(10))
        #expect(bench.linkLocal != nil && bench.linkLocal != address)
    }

    @Test("A link that is lost ten times per second causes fewer than 80 ARP packets per minute")
    func aLinkThatFlickersCausesNoStorm() {
        var bench = Bench.held()
        for _ in 0..<600 {
            bench.send(.linkDown)
            bench.run(for: .milliseconds(50))
            bench.send(.linkUp)
            bench.run(for: .milliseconds(50))
        }
        // The first probe of each claim waits up to one second, so one in twenty is sent before the link is lost again.
        #expect(bench.arp.count < 80)
        bench.run(for: .seconds(10))
        #expect(bench.linkLocal != nil)
    }

    @Test("A second linkUp counts as a different network") func aLinkThatIsThereTwiceIsAnotherNetwork() throws {
        var bench = Bench.held()
        let address = try #require(bench.linkLocal)
        bench.send(.linkUp)
        #expect(bench.assigned.isEmpty)
        bench.run(for: .seconds(10))
        #expect(bench.probed == [address] && bench.linkLocal == address)
    }

    @Test("After a suspend the address is verified") func afterASleepTheAddressIsVerified() throws {
        var bench = Bench.held()
        let address = try #require(bench.linkLocal)
        bench.send(.resumed)
        #expect(bench.assigned.isEmpty)
        bench.run(for: .seconds(10))
        #expect(bench.probed == [address] && bench.linkLocal == address)
    }

    @Test("A restart of the process keeps the address while it is verified")
    func aRestartKeepsTheAddressWhileItIsVerified() throws {
        let address = IPv4Address(169, 254, 44, 44)
        var bench = Bench(remembered: RememberedAddresses(linkLocal: address), inherited: [address])
        bench.send(.linkUp)
        bench.run(for: .seconds(20))
        #expect(bench.probed == [address] && bench.linkLocal == address)
        #expect(!bench.log.contains { $0.action == .remove(address) })
        #expect(bench.remembered.isEmpty)
    }

    @Test("Inherited addresses that cannot be verified are removed")
    func whatARestartFoundAndDoesNotStandGoes() throws {
        let (address, old) = (IPv4Address(169, 254, 44, 44), IPv4Address(192, 0, 2, 50))
        let memory = RememberedAddresses(
            linkLocal: address, lease: RememberedLease(address: old, server: TestServer.address))
        var bench = Bench(remembered: memory, inherited: [address, old])
        bench.send(.linkUp)
        bench.run(for: .seconds(2))
        #expect(Set(bench.assigned.keys) == [address, old])
        bench.hear(theirs(address))
        #expect(Set(bench.assigned.keys) == [old])
        bench.run(for: .seconds(20))
        #expect(bench.assigned.count == 1 && bench.linkLocal != nil && bench.linkLocal != address)
    }

    @Test("The first linkUp replaces the routes and settings of a previous process")
    func nothingOfAnEarlierProcessStaysThatIsNotOurs() {
        var bench = Bench()
        bench.send(.linkUp)
        #expect(bench.log.prefix(3).map(\.action) == [.setRoutes([]), .kernelAnswersARP(true), .handOn(nil)])
    }
}
