import PlugProtocol
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
        bench.serve(.commandOutcome(request(1), .refused(refusal)))
        #expect(bench.outcomes == [request(1): .refused(refusal)])
    }

    @Test func aPairedPlugGetsItsNewNameAndKeepsItsKeyAndPlace() async throws {
        let directory = "/tmp/plugs-" + String(UInt64.random(in: .min ... .max), radix: 36)
        let plugs = PairedPlugs(directory: directory)
        let ids = ["0123456789ab", "ba9876543210"].map { PlugID(rawValue: $0)! }
        for (number, id) in ids.enumerated() {
            try await plugs.add(
                PairedPlugs.Entry(id: id, key: PublicKey(bytes: [UInt8(number), 1])!, name: "Lamp \(number)"))
        }
        try await plugs.rename(ids[0], to: "Lounge")
        try await plugs.rename(PlugID(rawValue: "000000000000")!, to: "Nobody")
        #expect(try plugs.all().map(\.name) == ["Lounge", "Lamp 1"])
        #expect(try plugs.all().map(\.id) == ids)
        #expect(try plugs.all()[0].key == PublicKey(bytes: [0, 1])!)
    }
}
