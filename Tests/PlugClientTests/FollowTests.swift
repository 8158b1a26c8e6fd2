import PlugModel
import ProtocolCore
import Testing

@testable import PlugClient

@Suite struct FollowTests {
    @Test("A located plug is connected and subscribed") func aPlugThatWasLocatedIsConnectedAndSubscribed() {
        var bench = FollowedBench()
        #expect(bench.follower.nextDeadline == nil)
        bench.feed(.located)
        #expect(bench.attempts == [.zero])
        bench.feed(.located)
        #expect(bench.attempts.count == 1, "no second attempt starts during the first one")
        bench.connect()
        bench.press()
        guard bench.updates.count == 4, case .connected(let plug) = bench.updates[0],
            case .following(after: 9) = bench.updates[1], case .snapshot(let state) = bench.updates[2],
            case .event(let event, age: let age) = bench.updates[3]
        else {
            Issue.record("\(bench.updates)")
            return
        }
        #expect(plug.name == "Lamp" && plug.boot == boot)
        #expect(!state.relayOn)
        #expect(event.sequence == 10 && event.kind == .buttonPressed(.single) && age == .zero)
    }

    @Test("Events during a disconnection arrive later, once and in order")
    func whatHappenedWhileAwayComesAfterwardsOnceAndInOrder() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.press()
        bench.breakConnection()
        bench.press()
        bench.press()
        bench.locateAndConnect()
        bench.press()
        #expect(bench.sequences == [10, 11, 12, 13])
        #expect(bench.gaps.isEmpty)
    }

    @Test("The first connection begins with new events, and a later one continues after the last event")
    func aFirstConnectionListensFromNowAndALaterOneFromThere() {
        var bench = FollowedBench()
        bench.press()
        bench.locateAndConnect()
        bench.breakConnection()
        bench.press()
        bench.locateAndConnect()
        #expect(bench.sequences == [11])
    }

    @Test("A follower that is created with a cursor delivers the stored events after this cursor")
    func aCursorGivenAtTheStartIsGoneOnFrom() {
        var bench = FollowedBench(cursor: .after(10))
        for _ in 0..<3 { bench.press() }
        bench.locateAndConnect()
        #expect(bench.sequences == [11, 12])
    }

    @Test("A gap is reported once, and the cursor moves to its end") func aGapIsToldOnceAndTheCursorGoesOnBehindIt() {
        var bench = FollowedBench(cursor: .after(4))
        bench.locateAndConnect()
        #expect(bench.gaps == [Gap(from: 5, to: 9, reason: .powerLost)])
        bench.breakConnection()
        bench.press()
        bench.locateAndConnect()
        #expect(bench.gaps.count == 1)
        #expect(bench.sequences == [10])
    }

    @Test("A plug that does not know the cursor reports one gap, and new events follow")
    func aPlugThatWasResetIsANewBeginning() {
        var bench = FollowedBench(cursor: .after(500))
        bench.locateAndConnect()
        #expect(bench.gaps == [Gap(from: 1, to: 9, reason: .unknownCursor)])
        bench.press()
        bench.breakConnection()
        bench.locateAndConnect()
        #expect(bench.sequences == [10])
        #expect(bench.gaps.count == 1)
    }

    @Test("Late events of an earlier connection are dropped") func whatAnEarlierConnectionStillSaysIsDropped() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.breakConnection()
        bench.locateAndConnect()
        let before = bench.updates.count
        bench.feed(.received([255, 255, 255, 255], on: ConnectionID(rawValue: 1)))
        bench.feed(.closed(ConnectionID(rawValue: 1)))
        bench.feed(.failed(.away("the other address did not answer")))
        #expect(bench.updates.count == before)
        bench.press()
        #expect(bench.sequences == [10])
    }

    @Test("An unexpected connection is closed") func aConnectionThatNobodyWaitsForIsClosed() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        let stray = ConnectionID(rawValue: 99)
        guard case .close(stray) = bench.follower.handle(.opened(stray), now: bench.now).first else {
            Issue.record("the unexpected connection was not closed")
            return
        }
        bench.press()
        #expect(bench.sequences == [10])
    }

    @Test("An acknowledgement reaches the plug") func acknowledgementsArrive() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.press()
        bench.feed(.request(.acknowledge(10)))
        #expect(bench.server.connections.map(\.acknowledged) == [10])
    }

    @Test("Stopping sends a Goodbye and starts no further attempt") func stoppingSaysGoodbyeAndStartsNothingMore() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        let before = bench.updates.count
        bench.feed(.stop)
        #expect(bench.server.connections.isEmpty)
        #expect(bench.connection == nil)
        #expect(bench.updates.count == before, "a requested stop is not reported as a disconnection")
        bench.feed(.located)
        bench.run(for: .seconds(100))
        #expect(bench.attempts.count == 1)
        #expect(bench.follower.nextDeadline == nil)
        bench.connect()
        #expect(bench.connection == nil, "a connection that is made after the stop is closed")
    }
}
