import PlugClient
import PlugModel
import Presentation

/// Reads the state of every plug once, without a daemon: of the paired plugs at their recent addresses, or of all present
/// plugs if a paired plug does not answer there.
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

    /// Returns the plugs and the paired plugs that are absent, sorted by name.
    func gather(_ client: PlugClient) async -> [PlugRecord] {
        if let records = await gatherAtRecentAddresses(client) { return records }
        return await gatherPresent(client)
    }

    /// Returns the paired plugs if each one reports its state at its recent address, otherwise nil.
    private func gatherAtRecentAddresses(_ client: PlugClient) async -> [PlugRecord]? {
        guard !paired.isEmpty else { return nil }
        return await withTaskGroup(of: [PlugReport]?.self) { group in
            for plug in paired { group.addTask { await reportsAtRecentAddress(of: plug.id, client) } }
            var seen = SeenPlugs(paired: paired)
            for await reports in group {
                guard let reports else {
                    group.cancelAll()
                    return nil
                }
                for report in reports { seen.handle(.report(report)) }
            }
            return seen.records
        }
    }

    /// Returns the plug's reports up to its state, or nil if it does not report its state in time.
    private func reportsAtRecentAddress(of plug: PlugID, _ client: PlugClient) async -> [PlugReport]? {
        guard let found = await client.findAtRecentAddress(plug) else { return nil }
        let followed = client.follow(found, after: nil)
        let timeout = Task {
            try? await Task.sleep(for: min(limit, Self.quiet))
            await followed.stop()
        }
        defer { timeout.cancel() }
        var reports: [PlugReport] = []
        for await report in followed.reports {
            reports.append(report)
            if case .snapshot = report.update {
                await followed.stop()
                return reports
            }
        }
        return nil
    }

    private func gatherPresent(_ client: PlugClient) async -> [PlugRecord] {
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
