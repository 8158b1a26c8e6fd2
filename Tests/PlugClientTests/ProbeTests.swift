import PlugModel
import ProtocolCore
import Testing

@testable import PlugClient

/// The effect of a new announcement or a network change on the connection to a followed plug.
@Suite struct ProbeTests {
    @Test("A probe does not end a working connection") func aConnectionThatStandsIsKept() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.run(for: .seconds(3))
        bench.feed(.located)
        bench.run(for: .seconds(100))
        #expect(bench.retries.isEmpty)
        #expect(bench.attempts.count == 1)
    }

    @Test("A connection that does not answer a probe is replaced by a second one after half a second")
    func aSilentConnectionIsReplaced() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.run(for: .seconds(10))
        bench.cutWire()
        bench.press()
        bench.feed(.located)
        bench.run(for: .milliseconds(499))
        #expect(bench.attempts.count == 1)
        bench.run(for: .milliseconds(1))
        #expect(bench.attempts.count == 2 && bench.retries.isEmpty)
        let silent = bench.connection
        bench.connect()
        #expect(bench.reasons == ["A new connection replaces one that does not answer."])
        #expect(bench.retries == [.zero])
        #expect(bench.connection != silent && bench.open.count == 1)
        bench.press()
        bench.run(for: .seconds(100))
        #expect(bench.sequences == [10, 11])
        #expect(bench.attempts.count == 2)
    }

    @Test("A connection that answers after the second one was requested is kept, and the second one is closed")
    func aLateAnswerKeepsTheConnection() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.cutWire()
        bench.feed(.located)
        bench.run(for: .milliseconds(500))
        let slow = bench.connection
        bench.mendWire()
        bench.press()
        bench.connect()
        #expect(bench.retries.isEmpty)
        #expect(bench.connection == slow && bench.open.count == 1)
        #expect(bench.sequences == [10])
    }

    @Test("A connection ends five seconds after an unanswered probe, and a request for a second one continues")
    func aSilentConnectionEnds() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.cutWire()
        bench.press()
        bench.feed(.located)
        bench.run(for: .milliseconds(4999))
        #expect(bench.retries.isEmpty)
        bench.run(for: .milliseconds(1))
        #expect(bench.reasons == ["Nothing was received for 5 s."])
        bench.run(for: .seconds(60))
        #expect(bench.attempts.count == 2)
        bench.connect()
        #expect(bench.sequences == [10])
    }

    @Test("A second connection that fails is requested again, and at once if the network changes again")
    func aFailedReplacementIsRepeated() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.cutWire()
        bench.feed(.located)
        bench.run(for: .milliseconds(500))
        bench.refuse()
        bench.run(for: .milliseconds(500))
        #expect(bench.attempts.count == 3)
        bench.refuse()
        bench.feed(.located)
        bench.run(for: .zero)
        #expect(bench.attempts.count == 4)
        bench.run(for: .seconds(4))
        bench.refuse()
        bench.run(for: .milliseconds(250))
        #expect(bench.attempts.count == 5, "the end of the session requests a new connection as usual")
    }

    /// The connections of the previous place deliver nothing, or are closed.
    @Test("A controller that moves a thousand times receives each event once, and each command is executed once")
    func aThousandMoves() {
        var random = SeededRandom(seed: 1)
        var bench = FollowedBench(cursor: .after(9))
        bench.locateAndConnect()
        var presses: SequenceNumber = 0
        var commands: UInt8 = 0
        for move in 0..<1000 {
            if random.chance(0.7) { bench.cutWire() } else { bench.breakConnection() }
            for _ in 0..<Int.random(in: 1..<12, using: &random) {
                switch Int.random(in: 0..<5, using: &random) {
                case 0:
                    bench.press()
                    presses += 1
                case 1: bench.feed(.located)
                case 2 where bench.unansweredAttempts > 0:
                    if random.chance(0.5) { bench.connect() } else { bench.refuse() }
                case 3 where move.isMultiple(of: 5) && commands < 200:
                    commands += 1
                    bench.feed(.command(request(commands), turnOn))
                case _: bench.run(for: random.duration(in: .zero ... .seconds(2)))
                }
                #expect(bench.unansweredAttempts <= 1)
            }
            bench.feed(.located)
            while bench.follower.isConnecting || bench.unansweredAttempts > 0 { bench.connect() }
            bench.run(for: .milliseconds(500))
            if bench.unansweredAttempts > 0 { bench.connect() }
            #expect(bench.sequences.last ?? 9 == 9 + presses + SequenceNumber(bench.performed.count), "move \(move)")
        }
        #expect(bench.sequences == Array(10..<10 + presses + SequenceNumber(commands)))
        #expect(Set(bench.performed).count == bench.performed.count)
        #expect(bench.performed.count == Int(commands))
    }

    @Test("A probe while the reader is behind does not end the connection")
    func aReaderThatIsBehindLosesNoConnectionByIt() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.feed(.reading(false))
        bench.cutWire()
        bench.feed(.located)
        bench.run(for: .seconds(300))
        #expect(bench.retries.isEmpty)
        bench.feed(.reading(true))
        bench.run(for: .seconds(5))
        #expect(bench.reasons == ["Nothing was received for 5 s."])
    }

    @Test("A new connection while the reader is behind does not time out")
    func aNewConnectionOfAReaderThatIsBehindIsNotJudgedEither() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.feed(.reading(false))
        bench.breakConnection()
        bench.feed(.located)
        bench.connect()
        bench.cutWire()
        bench.run(for: .seconds(300))
        #expect(bench.retries.count == 1)
    }
}
