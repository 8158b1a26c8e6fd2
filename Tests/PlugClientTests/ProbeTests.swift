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

    @Test("A connection that does not answer a probe is replaced after five seconds")
    func oneThatDoesNotIsGivenUpAfterFiveSecondsAndMadeAnew() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.run(for: .seconds(10))
        bench.cutWire()
        bench.press()
        bench.feed(.located)
        bench.run(for: .milliseconds(4999))
        #expect(bench.retries.isEmpty)
        bench.run(for: .milliseconds(1))
        #expect(bench.reasons == ["Nothing was received for 5 s."])
        bench.run(for: .milliseconds(250))
        #expect(bench.attempts.count == 2, "after a session of ten seconds the first retry follows within 250 ms")
        bench.connect()
        #expect(bench.sequences == [10])
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
