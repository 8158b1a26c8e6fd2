import PlugClient
import PlugModel
import Presentation

/// Looks once at every plug that is there, without a daemon.
struct HouseGathering {
    private enum Input: Sendable {
        case update(HouseFollower.Update)
        case tick
    }

    /// So long after the last plug appeared none is waited for: they answer within 120 ms (RFC 6762, section 6).
    private static let quiet = Duration.milliseconds(700)
    /// While one that is paired was not seen: a first packet may have been lost, and the next goes out a second later.
    private static let patience = Duration.milliseconds(1700)
    private static let tick = Duration.milliseconds(50)
    /// Of updates that are not read yet. A plug that follows others by far is not missed: its state comes again.
    private static let pending = 1024

    let paired: [PairedPlugs.Entry]
    /// However many appear still.
    let limit: Duration

    /// The plugs by name: those that are there, and those that are paired and are not.
    func gather(_ client: PlugClient) async -> [PlugRecord] {
        let house = HouseFollower(client)
        let (inputs, continuation) = AsyncStream.makeStream(
            of: Input.self, bufferingPolicy: .bufferingOldest(Self.pending))
        let feeding = [
            Task { await house.run() },
            Task { for await update in house.updates { continuation.yield(.update(update)) } },
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
                seen.take(update)
            case .tick:
                let quiet = seen.isEmpty ? limit : seen.isComplete ? Self.quiet : Self.patience
                let isQuiet = now - newest >= quiet
                guard now - began < limit, !(isQuiet && seen.haveAllAnswered) else { return seen.records }
            }
        }
        return seen.records
    }
}
