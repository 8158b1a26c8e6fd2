import AddressConfiguration
import DNSWire
import ProtocolCore
import Testing

@Suite("A lease whose link is lost and returns")
struct LostLeaseTests {
    private let leased = IPv4Address(192, 0, 2, 50)

    @Test("After a lost link the lease is confirmed and probed before use")
    func afterALostLinkTheLeaseIsConfirmedAndProbedBeforeItIsUsed() throws {
        var bench = Bench.leased()
        bench.send(.linkDown)
        #expect(bench.assigned.isEmpty && bench.handedOn.last == .some(nil))
        bench.run(for: .seconds(5))
        bench.clear()
        let back = bench.now
        bench.send(.linkUp)
        bench.run(for: .seconds(10))
        #expect(bench.time { if case .assign = $0 { true } else { false } } == back + .milliseconds(600))
        #expect(bench.machine.status.linkLocal == .none)
    }

    @Test("A leased address with a connection stays on the interface while the server confirms the lease")
    func aLeaseWithAConnectionLingersUntilTheServerAgrees() throws {
        var bench = Bench.leased()
        bench.send(.inUse([leased]))
        bench.send(.linkDown)
        bench.clear()
        bench.send(.linkUp)
        #expect(bench.assigned[leased] != nil && bench.kernelAnswersARP == false)
        bench.run(for: .seconds(10))
        #expect(bench.assigned[leased] != nil && bench.kernelAnswersARP == true)
        #expect(!bench.log.contains { $0.action == .remove(leased) })
    }

    @Test("A leased address with a connection is removed if no server confirms the lease within ten seconds")
    func whereNobodyConfirmsItALingeringLeaseGoesAfterTenSeconds() throws {
        var bench = Bench.leased()
        bench.send(.inUse([leased]))
        bench.send(.linkDown)
        bench.server = nil
        bench.send(.linkUp)
        bench.run(for: .milliseconds(9_900))
        #expect(bench.assigned[leased] != nil && bench.linkLocal != nil)
        bench.run(for: .milliseconds(200))
        #expect(bench.assigned[leased] == nil && bench.linkLocal != nil)
        #expect(bench.handedOn.last == .some(nil))
    }

    @Test("A leased address with a connection is removed at once if the server refuses the lease")
    func aServerThatRefusesALingeringLeaseEndsItAtOnce() throws {
        var bench = Bench.leased()
        bench.send(.inUse([leased]))
        bench.send(.linkDown)
        bench.server?.refuses = true
        bench.send(.linkUp)
        #expect(bench.assigned[leased] == nil)
        #expect(bench.remembered.last?.lease == nil)
    }

    @Test("On a different network the old lease is removed when a new one is given")
    func onAnotherNetworkTheOldLeaseGoesWhenAnotherIsGiven() throws {
        var bench = Bench.leased()
        bench.send(.inUse([leased]))
        bench.send(.linkDown)
        bench.server = TestServer()
        bench.server?.lease = IPv4Address(192, 0, 2, 99)
        bench.send(.linkUp)
        bench.run(for: .seconds(30))
        #expect(Set(bench.assigned.keys) == [IPv4Address(192, 0, 2, 99)])
    }

    @Test("A lease that expires without a link is removed") func aLeaseThatEndsWhileThereIsNoLinkGoes() {
        var bench = Bench.leased()
        bench.send(.inUse([leased]))
        bench.send(.linkDown)
        #expect(bench.assigned[leased] != nil)
        bench.run(for: .seconds(3590))
        #expect(bench.assigned.isEmpty)
    }
}
