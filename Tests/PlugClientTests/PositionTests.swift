import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport
import Testing

@testable import PlugClient

/// The event number at which following begins or continues when different plugs use one name one after another.
@Suite struct PositionTests {
    private let other = PlugServer.Identity(
        id: PlugID(rawValue: "ffffffffffff")!, name: "Lamp", capabilities: [.relay], firmware: "1.0", boot: boot)

    private func server(_ identity: PlugServer.Identity, next: SequenceNumber) -> PlugServer {
        PlugServer(
            identity: identity, access: .knowing(), journal: EventJournal(nextSequence: next),
            state: PlugState(relayOn: false))
    }

    @Test("Following with the cursor `now` reports its start position once") func fromNowTellsOnceWhereThatIs() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.breakConnection()
        bench.press()
        bench.locateAndConnect()
        #expect(bench.beginnings == [9])
        #expect(bench.sequences == [10])
    }

    @Test("Following from the beginning delivers the stored events and reports the others as a gap")
    func fromTheBeginningBringsWhatThePlugHasAndTellsTheRest() {
        var bench = FollowedBench(cursor: .beginning)
        bench.press()
        bench.locateAndConnect()
        #expect(bench.gaps == [Gap(from: 1, to: 9, reason: .powerLost)])
        #expect(bench.sequences == [10])
        #expect(bench.beginnings.isEmpty)
    }

    @Test("A known plug continues after its last event") func aPlugThatIsKnownGoesOnWhereItWasLeft() {
        var bench = FollowedBench(cursor: .now, known: [lamp.id: 10])
        for _ in 0..<3 { bench.press() }
        bench.locateAndConnect()
        #expect(bench.sequences == [11, 12])
        #expect(bench.beginnings.isEmpty)
    }

    @Test("Plugs that swap their names keep their positions") func plugsThatSwapTheirNamesKeepTheirNumbers() {
        var bench = FollowedBench(cursor: .after(9), known: [other.id: 2000])
        bench.locateAndConnect()
        bench.press()
        let first = bench.server
        bench.breakConnection()
        bench.server = server(other, next: 2000)
        bench.press()
        bench.press()
        bench.locateAndConnect()
        #expect(bench.sequences == [10, 2001])
        bench.breakConnection()
        bench.server = first
        bench.press()
        bench.locateAndConnect()
        #expect(bench.sequences == [10, 2001, 11])
        #expect(bench.gaps.isEmpty)
    }

    @Test("A new plug under the same name begins with new events") func aNewPlugUnderTheNameBeginsNow() {
        var bench = FollowedBench(cursor: .after(9))
        bench.locateAndConnect()
        bench.breakConnection()
        bench.server = server(other, next: 500)
        bench.press()
        bench.locateAndConnect()
        #expect(bench.sequences.isEmpty)
        #expect(bench.beginnings == [500])
    }

    @Test("A new plug that disconnects before it reports a position begins with new events again")
    func aNewPlugThatGoesBeforeItToldWhereItBeginsStillBeginsNow() {
        let (first, second) = (PlugID(rawValue: "000000000001")!, PlugID(rawValue: "000000000002")!)
        var position = EventPosition(first: .after(9), known: [:])
        #expect(position.subscription(at: first) == .after(9))
        #expect(position.subscription(at: second) == .fromNow)
        #expect(position.subscription(at: second) == .fromNow)
        #expect(position.subscription(at: first) == .after(9))
    }

    @Test("Without a cursor there are no events, and without state options no states")
    func withoutACursorNoEventsComeAndWithoutOptionsNoStates() {
        var bench = FollowedBench(cursor: nil, states: nil)
        bench.locateAndConnect()
        bench.press()
        bench.feed(.command(request(1), turnOn))
        #expect(bench.updates.count == 1, "the connection is the only update")
        #expect(bench.outcomes == [request(1): .done(PlugState(relayOn: true), event: 11)])
    }

    @Test("The subscriber's dead band and interval are applied by the plug")
    func theSubscribersDeadBandAndIntervalReachThePlug() {
        var bench = FollowedBench(
            cursor: nil, states: StateOptions(deadBandMilliwatts: 5000, maximumInterval: .seconds(10)))
        bench.server.measure(watts: 40, at: bench.now)
        bench.locateAndConnect()
        bench.measure(watts: 44)
        #expect(bench.watts == [40])
        bench.measure(watts: 45)
        #expect(bench.watts == [40, 45])
        bench.measure(watts: 46)
        bench.run(for: .milliseconds(9999))
        #expect(bench.watts == [40, 45])
        bench.run(for: .milliseconds(1))
        #expect(bench.watts == [40, 45, 46])
    }

    @Test("The number of stored positions is limited") func numbersOfPlugsAreBounded() {
        var position = EventPosition(first: .now, known: [:])
        for number in 0..<2000 {
            let text = String(number, radix: 16)
            let plug = PlugID(rawValue: String(repeating: "0", count: 12 - text.count) + text)!
            _ = position.subscription(at: plug)
            position.moved(to: 7)
            #expect((position.last == 7) == (number < EventPosition.limit))
        }
    }
}
