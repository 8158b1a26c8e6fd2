import AddressConfiguration
import DNSWire
import ProtocolCore
import Testing

@Suite("An interface without a DHCP server")
struct LinkLocalAddressingTests {
    private func request(for address: IPv4Address, from last: UInt8 = 9) -> ARPPacket {
        ARPPacket(
            operation: .request, senderHardware: MACAddress(2, 0, 0, 0, 1, last),
            senderAddress: IPv4Address(169, 254, 9, last), targetHardware: .zero, targetAddress: address)
    }

    private func theirs(_ address: IPv4Address) -> ARPPacket { .announcement(of: address, from: Bench.other) }

    @Test("A link-local address is probed, and assigned after 4 to 7 seconds")
    func theAddressIsThereAfterFourToSevenSecondsAndProbedBefore() throws {
        for seed in 1...200 as ClosedRange<UInt64> {
            var bench = Bench(seed: seed)
            let start = bench.now
            bench.send(.linkUp)
            bench.run(for: .seconds(20))
            let address = try #require(bench.linkLocal)
            let assigned = try #require(bench.time { if case .assign = $0 { true } else { false } })
            #expect((.seconds(4) ... .seconds(7)).contains(assigned - start))
            #expect(
                bench.arp.map(\.packet)
                    == Array(repeating: .probe(for: address, from: Bench.mine), count: 3)
                    + Array(repeating: .announcement(of: address, from: Bench.mine), count: 2))
            #expect(bench.arp[3].time == assigned)
        }
    }

    @Test("The kernel's ARP is disabled, then the address and its routes are added")
    func theInterfaceGetsTheAddressItsRoutesAndASilentKernelInThisOrder() throws {
        var bench = Bench()
        bench.send(.linkUp)
        bench.run(for: .seconds(3))
        bench.clear()
        bench.run(for: .seconds(5))
        let address = try #require(bench.linkLocal)
        let own = AssignedAddress(
            address: address, prefixLength: 16, broadcast: IPv4Address(169, 254, 255, 255), scope: .link)
        let actions = bench.log.map(\.action).filter { if case .broadcastDHCP = $0 { false } else { true } }
        let first = try #require(actions.firstIndex(of: .kernelAnswersARP(false)))
        #expect(
            actions[first...].prefix(6) == [
                .kernelAnswersARP(false), .assign(own),
                .setRoutes([
                    Route(destination: RFC3927.prefix, prefixLength: 16, source: address, metric: 1100),
                    Route(destination: .any, prefixLength: 0, source: address, metric: 1100),
                ]),
                .remember(RememberedAddresses(linkLocal: address)),
                .sendARP(.announcement(of: address, from: Bench.mine)), .notice(.claimed(address)),
            ])
        #expect(bench.machine.status.linkLocal == .held(address))
    }

    @Test("Each denied probe results in a new address") func aDeniedProbeLeadsToAnotherAddressEachTime() throws {
        var bench = Bench()
        bench.send(.linkUp)
        for denied in 1...5 {
            bench.run(for: .seconds(2))
            let address = try #require(bench.probed.last)
            bench.hear(.reply(to: .probe(for: address, from: Bench.mine), from: Bench.other))
            #expect(bench.machine.status.conflicts == denied)
        }
        bench.run(for: .seconds(10))
        #expect(bench.probed.count == 6 && Set(bench.probed).count == 6)
        #expect(bench.linkLocal == bench.probed.last)
    }

    @Test("If a different host probes for the same address at the same time, the plug selects a new one")
    func ofTwoThatProbeAtOnceBothTakeAnother() throws {
        var bench = Bench()
        bench.send(.linkUp)
        bench.run(for: .seconds(2))
        let wanted = try #require(bench.probed.first)
        bench.hear(.probe(for: wanted, from: Bench.other))
        bench.run(for: .seconds(10))
        #expect(bench.linkLocal != nil && bench.linkLocal != wanted)
    }

    @Test("If every probe is denied, one address per minute is tried after ten conflicts")
    func whereEverythingIsDeniedOneAddressAMinuteIsTriedAfterTen() throws {
        var bench = Bench()
        bench.isDenied = true
        bench.send(.linkUp)
        bench.run(for: .seconds(3600))
        let first = bench.arp.map(\.time)
        // Each address is probed once and then not tried again.
        #expect(bench.probed.count == first.count && Set(bench.probed).count == first.count)
        #expect((60...70).contains(first.count))
        for (earlier, later) in zip(first.dropFirst(9), first.dropFirst(10)) {
            #expect(later - earlier >= RFC3927.rateLimitInterval)
        }
        #expect(bench.notices.filter { $0 == .rateLimited }.count == 1)
        #expect(bench.assigned.isEmpty)
    }

    @Test("A lost link does not reset the rate limit") func aLostLinkDoesNotLiftTheLimit() throws {
        var bench = Bench()
        bench.send(.linkUp)
        for _ in 0..<10 {
            bench.run(for: .seconds(2))
            bench.hear(.probe(for: try #require(bench.probed.last), from: Bench.other))
        }
        bench.clear()
        for _ in 0..<25 {
            bench.send(.linkDown)
            bench.run(for: .seconds(1))
            bench.send(.linkUp)
            bench.run(for: .seconds(1))
        }
        #expect(bench.probed.isEmpty)
    }

    @Test("The first conflict on a held address is answered with one announcement, the second one with a new address")
    func aLaterConflictIsMetByOneAnnouncementAndASecondOneByAnotherAddress() throws {
        var bench = Bench.held()
        let address = try #require(bench.linkLocal)
        bench.hear(theirs(address))
        #expect(bench.arp.map(\.packet) == [.announcement(of: address, from: Bench.mine)])
        #expect(bench.linkLocal == address)
        bench.run(for: .seconds(3))
        bench.hear(theirs(address))
        #expect(bench.linkLocal == nil && bench.arp.count == 1)
        #expect(bench.routes.isEmpty && bench.kernelAnswersARP == true)
        #expect(bench.notices.contains(.gaveUp(address)))
        bench.run(for: .seconds(8))
        #expect(bench.linkLocal != nil && bench.linkLocal != address)
    }

    @Test("Packets that an access point sends back are not conflicts")
    func whatAnAccessPointSendsBackIsNoConflict() throws {
        var bench = Bench(seed: 3)
        bench.send(.linkUp)
        var echoed = 0
        for _ in 0..<400 {
            bench.run(for: .milliseconds(50))
            for (_, packet) in bench.arp.dropFirst(echoed) { bench.hear(packet) }
            echoed = bench.arp.count
        }
        #expect(echoed == 5 && bench.linkLocal != nil && bench.machine.status.conflicts == 0)
    }

    @Test("The plug, not the kernel, answers ARP requests for a link-local address")
    func requestsForTheAddressAreAnsweredInTheKernelsPlace() throws {
        var bench = Bench.held()
        let address = try #require(bench.linkLocal)
        let probe = ARPPacket.probe(for: address, from: Bench.other)
        bench.hear(request(for: address))
        bench.hear(probe)
        bench.hear(request(for: IPv4Address(169, 254, 9, 10)))
        #expect(
            bench.arp.map(\.packet) == [
                .reply(to: request(for: address), from: Bench.mine), .reply(to: probe, from: Bench.mine),
            ])
        #expect(bench.machine.status.conflicts == 0)
    }

    @Test("A flood of ARP requests gets about 20 answers per second")
    func aFloodOfRequestsIsAnsweredTwentyTimesASecond() throws {
        var bench = Bench.held()
        let address = try #require(bench.linkLocal)
        for number in 0..<10_000 {
            bench.hear(request(for: address, from: UInt8(number % 250)))
            bench.run(for: .milliseconds(1))
        }
        #expect((200...264).contains(bench.arp.count))
    }

    @Test("An address change every ten seconds writes flash at most 152 times per day")
    func theAddressIsRememberedWithoutWearingOutFlash() throws {
        var bench = Bench()
        bench.send(.linkUp)
        // For a day, a host announces the plug's address as its own every ten seconds.
        for _ in 0..<(24 * 360) {
            bench.run(for: .seconds(10))
            guard let address = bench.linkLocal else { continue }
            bench.hear(theirs(address))
            bench.hear(theirs(address))
        }
        #expect(bench.probed.count > 1000)
        #expect(bench.remembered.count <= 8 + 24 * 6)
        bench.run(for: .seconds(3600))
        #expect(bench.remembered.last?.linkLocal == bench.linkLocal)
    }

    @Test("After a change of the hardware address, a different address is claimed")
    func anotherCardClaimsAnotherAddress() throws {
        var bench = Bench.held()
        let address = try #require(bench.linkLocal)
        bench.send(.hardwareAddressChanged(Bench.mine))
        #expect(bench.linkLocal == address)
        bench.send(.hardwareAddressChanged(Bench.other))
        #expect(bench.assigned.isEmpty && bench.routes.isEmpty)
        bench.clear()
        bench.run(for: .seconds(8))
        #expect(bench.linkLocal != nil && bench.linkLocal != address)
        #expect(bench.arp.allSatisfy { $0.packet.senderHardware == Bench.other })
    }

    @Test("An address that the kernel rejects is retried at growing intervals")
    func anAddressThatTheKernelRefusesIsTriedLessAndLess() throws {
        var bench = Bench()
        bench.refuses = true
        bench.send(.linkUp)
        bench.run(for: .seconds(3600))
        let tries = bench.log.filter { if case .assign = $0.action { true } else { false } }.map(\.time)
        let gaps = zip(tries, tries.dropFirst()).map { $1 - $0 }
        let doubling: [Duration] = [1, 2, 4, 8, 16, 32, 64].map { .seconds($0) }
        #expect(Array(gaps.prefix(7)) == doubling)
        #expect(gaps.dropFirst(7).allSatisfy { $0 == .seconds(64) })
        bench.refuses = false
        bench.run(for: .seconds(64))
        #expect(bench.linkLocal != nil && !bench.routes.isEmpty)
    }

    @Test("An address that another program removes is added again")
    func anAddressThatSomebodyTakesAwayComesBack() throws {
        var bench = Bench.held()
        let address = try #require(bench.linkLocal)
        bench.send(.assignmentFailed(address, reason: "removed"))
        #expect(bench.routes.isEmpty)
        // While the address is missing, ARP requests are not answered.
        bench.hear(request(for: address))
        #expect(bench.arp.isEmpty)
        bench.clear()
        bench.run(for: .seconds(1))
        #expect(bench.log.contains { if case .assign(let own) = $0.action { own.address == address } else { false } })
        #expect(bench.routes.count == 2)
    }
}
