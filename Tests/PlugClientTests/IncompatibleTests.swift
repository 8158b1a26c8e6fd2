import PlugModel
import ProtocolCore
import Testing

@testable import PlugClient

/// A plug with a different version of the protocol.
@Suite struct IncompatibleTests {
    private let words = "The plug uses protocol version 2, the controller version 1: update the controller."

    /// A frame with `Goodbye { reason: VERSION, detail }`, as a plug of version 2 sends it.
    private var goodbye: [UInt8] {
        let detail = Array(words.utf8)
        let body = [0x08, 2, 0x12, UInt8(detail.count)] + detail
        let message = [0x52, UInt8(body.count)] + body
        return [0, 0, 0, UInt8(message.count)] + message
    }

    @Test("After a version mismatch, waiting requests are refused with a text that names the side to update")
    func whoWaitsForAnAnswerIsToldWhichSideToUpdate() {
        var bench = FollowedBench()
        bench.feed(.located)
        bench.feed(.command(request(1), turnOn))
        bench.feed(.fetch(1, from: .zero, to: .zero))
        bench.feed(.opened(ConnectionID(rawValue: 5)))
        bench.feed(.received(goodbye, on: ConnectionID(rawValue: 5)))
        #expect(bench.outcomes == [request(1): .refused(Refusal(.unsupported, words))])
        #expect(bench.refusedFetches == [1: Refusal(.unsupported, words)])
        guard case .disconnected(.incompatible(words), _) = bench.updates.last else {
            Issue.record("\(bench.updates)")
            return
        }
    }

    @Test("A follower continues to retry after a version mismatch")
    func aFollowerGoesOnTryingBecauseAPlugMayBeUpdated() {
        var bench = FollowedBench()
        bench.feed(.located)
        bench.feed(.opened(ConnectionID(rawValue: 5)))
        bench.feed(.received(goodbye, on: ConnectionID(rawValue: 5)))
        bench.run(for: .seconds(1))
        #expect(bench.attempts.count == 2)
    }
}
