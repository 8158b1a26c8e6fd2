import ProtocolCore
import SimulatedLAN
import Testing

@Suite struct DatagramTests {
    @Test("Multicast reaches all other hosts, and unicast reaches one")
    func multicastReachesAllOthersAndUnicastOne() throws {
        let pair = Pair()
        let third = pair.lan.add(Chatter(), name: "third")
        pair.lan.attach(third, to: pair.link, addresses: [IPAddress(192, 0, 2, 3)])
        pair.lan.schedule(.powerOn(third))
        pair.lan.schedule(pair.datagram([1]), on: pair.left, after: .seconds(1))
        pair.lan.schedule(pair.datagram([2], to: IPAddress(192, 0, 2, 3)), on: pair.left, after: .seconds(2))
        try pair.lan.run(for: .seconds(3))
        #expect(pair.notes(pair.left) == [])
        #expect(pair.notes(pair.right) == [.datagram([1])])
        #expect(pair.notes(third) == [.datagram([1]), .datagram([2])])
    }

    @Test("The delay of datagrams is within its range")
    func theDelayLiesInItsRange() throws {
        let pair = Pair(LinkFaults(delay: .milliseconds(3)...(.milliseconds(5))))
        for second in 1...100 { pair.lan.schedule(pair.datagram([9]), on: pair.left, after: .seconds(second)) }
        try pair.lan.run(for: .seconds(200))
        let delays = pair.lan[pair.right].log.dropFirst(2).map { $0.at.nanoseconds % 1_000_000_000 }
        #expect(delays.count == 100)
        #expect(delays.allSatisfy { (3_000_000...5_000_000).contains($0) })
        #expect(Set(delays).count > 50)
    }

    @Test("Datagrams are lost and duplicated at the configured rates")
    func lossAndDuplicationComeAtTheirRate() throws {
        for (faults, range) in [(LinkFaults(loss: 0.3), 620...780), (LinkFaults(duplication: 0.3), 1220...1380)] {
            let pair = Pair(seed: 4, faults)
            for number in 1...1000 {
                pair.lan.schedule(pair.datagram([9]), on: pair.left, after: .milliseconds(number))
            }
            try pair.lan.run(for: .seconds(5))
            #expect(range.contains(pair.notes(pair.right).count))
        }
    }

    @Test("Datagrams are reordered only if reordering is configured")
    func withoutReorderingTheyMayOnlyCrossWithinTheDelay() throws {
        for (chance, isOrdered) in [(0.0, true), (0.5, false)] {
            let pair = Pair(LinkFaults(reordering: chance))
            for number in 1...50 as ClosedRange<UInt8> {
                pair.lan.schedule(pair.datagram([number]), on: pair.left, after: .milliseconds(10 * Int(number)))
            }
            try pair.lan.run(for: .seconds(5))
            let order = pair.notes(pair.right)
            #expect(order.count == 50)
            #expect((order == (1...50).map { .datagram([$0]) }) == isOrdered)
        }
    }

    @Test("A partition separates hosts until it is healed")
    func aPartitionSeparatesAndHealingJoins() throws {
        let pair = Pair()
        pair.lan.schedule(.partition(pair.link, [[pair.left]]))
        pair.lan.schedule(pair.datagram([1]), on: pair.left, after: .seconds(1))
        pair.lan.schedule(.heal(pair.link), after: .seconds(2))
        pair.lan.schedule(pair.datagram([2]), on: pair.left, after: .seconds(3))
        try pair.lan.run(for: .seconds(4))
        #expect(pair.notes(pair.right) == [.datagram([2])])
    }

    @Test("A link that goes down drops the packets in flight")
    func aLinkThatGoesDownTakesWhatIsOnItsWay() throws {
        let pair = Pair(LinkFaults(delay: .milliseconds(10)...(.milliseconds(10))))
        pair.lan.schedule(pair.datagram([1]), on: pair.left, after: .seconds(1))
        pair.lan.schedule(.linkDown(pair.link), after: .milliseconds(1005))
        pair.lan.schedule(.linkUp(pair.link), after: .seconds(2))
        try pair.lan.run(for: .seconds(3))
        #expect(pair.notes(pair.right) == [.down(pair.rightInterface), .up(pair.rightInterface)])
    }
}
