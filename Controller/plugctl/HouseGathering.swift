import PlugClient
import PlugModel
import Presentation

/// Reads the state of every present plug once, without a daemon.
struct HouseGathering {
    private enum Input: Sendable {
        case update(HouseFollower.Update)
        case tick
    }

    /// The time without a new plug after which the search ends, if all plugs that were found have reported. Plugs
    /// answer a query within 120 ms (RFC 6762, section 6).
    private static let quiet = Duration.milliseconds(700)
    /// The longer quiet time while a paired plug is missing: the first query or its answer may have been lost, and the
    /// next query is sent after a second.
    private static let patience = Duration.milliseconds(1700)
    private static let tick = Duration.milliseconds(50)
    /// The maximum number of unread updates. A dropped state does no harm, because the plug sends its state again.
    private static let pending = 1024

    let paired: [PairedPlugs.Entry]
    /// The maximum duration of the search, even if more plugs appear.
    let limit: Duration

    /// Returns the present plugs and the paired plugs that are absent, sorted by name.
    func gather(_ client: PlugClient) async -> [PlugRecord] {
        let house = HouseFollower(client)
        let (inputs, continuation) = AsyncStream.makeStream(
            of: Input.self, bufferingPolicy: .bufferingOldest(Self.pending))
        let feeding = [
            Task { await house.run { continuation.yield(.update($0)) } },
            Task {
                while !Task.isCancelled {
                    try await Task.sleep(for: Self.tick)
                    continuation.yield(.tick)
                }
            },
        ]
        defer { feeding.forEach { $0.cancel() } }
        var seen = SeenPlugs(paired: paired)
        let began = ContinuousClock.now
        var newest = began
        for await input in inputs {
            let now = ContinuousClock.now
            switch input {
            case .update(let update):
                if case .found = update { newest = now }
                seen.handle(update)
            case .tick:
                let quiet = seen.isEmpty ? limit : seen.isComplete ? Self.quiet : Self.patience
                let isQuiet = now - newest >= quiet
                guard now - began < limit, !(isQuiet && seen.haveAllAnswered) else { return seen.records }
            }
        }
        return seen.records
    }
}
