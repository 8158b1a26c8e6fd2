import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport
import Testing

@testable import PlugClient

@Suite struct BackOffTests {
    @Test("The retry delay doubles up to 30 seconds, with jitter between half and the full delay", arguments: 1...50)
    func attemptsDoubleTheirDistanceUpTo30SecondsWithJitter(seed: Int) {
        var bench = FollowedBench(seed: UInt64(seed))
        bench.feed(.located)
        var base = Duration.milliseconds(250)
        for _ in 0..<12 {
            bench.feed(.failed(.away("no route")))
            let wait = bench.retries.last!
            #expect(wait >= base / 2 && wait <= base)
            #expect(bench.follower.nextDeadline == bench.now + wait)
            let attempts = bench.attempts.count
            bench.run(for: wait - .nanoseconds(1))
            #expect(bench.attempts.count == attempts)
            bench.run(for: .nanoseconds(1))
            #expect(bench.attempts.count == attempts + 1)
            base = min(base * 2, .seconds(30))
        }
        #expect(base == .seconds(30))
    }

    @Test("Controllers with different seeds retry after different delays") func twoControllersDoNotReturnAtOnce() {
        var waits: Set<Duration> = []
        for seed in 0..<20 {
            var bench = FollowedBench(seed: UInt64(seed))
            bench.feed(.located)
            bench.feed(.failed(.away("")))
            waits.formUnion(bench.retries)
        }
        #expect(waits.count == 20)
    }

    @Test("A new announcement causes an immediate attempt") func aNewAnnouncementRetriesAtOnce() {
        var bench = FollowedBench()
        bench.feed(.located)
        for _ in 0..<10 {
            bench.feed(.failed(.away("refused")))
            bench.feed(.located)
        }
        #expect(bench.attempts == Array(repeating: .zero, count: 11))
    }

    @Test("A session of five seconds resets the delay, and a short session does not")
    func aSessionThatLastsEndsTheBackOffAndAConnectionAloneDoesNot() {
        var bench = FollowedBench()
        bench.feed(.located)
        for _ in 0..<8 {
            bench.feed(.failed(.away("refused")))
            bench.feed(.located)
        }
        // A plug that is stopping accepts the connection and sends a Goodbye.
        bench.serve(.stop)
        bench.connect()
        #expect(bench.retries.last! >= .seconds(15))
        #expect(bench.reasons.last == "the plug closed the connection: The plug is stopping; it may return soon.")
        bench.server = PlugServer(
            identity: lamp, access: .knowing(), journal: EventJournal(), state: PlugState(relayOn: true))
        bench.locateAndConnect()
        bench.breakConnection()
        #expect(bench.retries.last! >= .seconds(15), "a session shorter than five seconds does not reset the delay")
        bench.locateAndConnect()
        bench.run(for: .seconds(5))
        bench.breakConnection()
        #expect(bench.retries.last! <= .milliseconds(250))
        #expect(bench.reasons.last == "connection lost")
    }

    @Test("A plug that sends nothing for 45 seconds is disconnected and tried again")
    func aPlugThatFallsSilentIsLeftAndTriedAgain() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        // The connection is interrupted, and neither side is notified.
        let follower = bench.follower
        var alone = FollowedBench()
        alone.follower = follower
        alone.run(for: .seconds(44))
        #expect(alone.retries.isEmpty)
        alone.run(for: .seconds(2))
        #expect(alone.reasons == ["Nothing was received for 45 s."])
        #expect(alone.attempts.count == 1)
    }
}
