import PlugModel
import ProtocolCore
import Testing

@testable import PlugClient

/// A plug whose name and settings change while it is followed.
@Suite struct DescriptionTests {
    @Test("A new name is reported and the connection continues") func aNewNameIsToldAndTheConnectionGoesOn() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        #expect(bench.descriptions.map(\.name) == [nil], "the first report of a session has no name")
        bench.serve(.renamed("Lounge"))
        bench.serve(.configured(RemoteSettings(powerOn: .on)))
        #expect(bench.descriptions.map(\.name) == [nil, "Lounge", "Lounge"])
        #expect(bench.descriptions.last?.settings == RemoteSettings(powerOn: .on))
        bench.press()
        #expect(bench.sequences == [10] && bench.retries.isEmpty)
    }

    @Test("A command that an older plug does not know ends with the plug's refusal")
    func aCommandThatAnOldPlugDoesNotKnowEndsWithItsRefusal() {
        var bench = FollowedBench()
        bench.answers = false
        bench.locateAndConnect()
        bench.feed(.command(request(1), .rename("Lounge")))
        #expect(bench.performed == [request(1)])
        let refusal = Refusal(.unsupported, "This plug does not know the command; its firmware may be too old.")
        bench.serve(.commandOutcome(command(1), .refused(refusal)))
        #expect(bench.outcomes == [request(1): .refused(refusal)])
    }
}
