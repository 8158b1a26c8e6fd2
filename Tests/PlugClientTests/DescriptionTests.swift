import PlugModel
import ProtocolCore
import Testing

@testable import PlugClient

/// A plug that takes another name and other settings while it is followed.
@Suite struct DescriptionTests {
    @Test func aNewNameIsToldAndTheConnectionGoesOn() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        #expect(bench.descriptions.map(\.name) == [nil], "it is what it was found as")
        bench.serve(.renamed("Lounge"))
        bench.serve(.configured(RemoteSettings(powerOn: .on)))
        #expect(bench.descriptions.map(\.name) == [nil, "Lounge", "Lounge"])
        #expect(bench.descriptions.last?.settings == RemoteSettings(powerOn: .on))
        bench.press()
        #expect(bench.sequences == [10] && bench.retries.isEmpty)
    }

    @Test func aCommandThatAnOldPlugDoesNotKnowEndsWithItsRefusal() {
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
