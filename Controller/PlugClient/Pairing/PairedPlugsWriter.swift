import LinuxSystem
import NIOPosix
import PlugModel
import ProtocolCore
import Synchronization

/// Writes the next keys and the names that plugs report into the list of paired plugs.
///
/// The keys are written on a separate thread, because a write waits for the disk and event loops must not wait. Each
/// plug has a budget of writes, so that a plug which reports new keys or names in a loop causes only a few writes per
/// hour.
final class PairedPlugsWriter: Sendable {
    private let paired: PairedPlugs
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let budgets = Mutex((keys: WriteBudget.ofKeys, names: WriteBudget.ofNames))

    init(_ paired: PairedPlugs) {
        self.paired = paired
        thread.start()
    }

    deinit { thread.shutdownGracefully { _ in } }

    /// Stores the key that the plug announced.
    ///
    /// - Returns: false if the key is not stored, because the plug has no budget left or the write failed.
    func announce(_ key: PublicKey, of plug: PlugID) async -> Bool {
        let now = BootClock.now
        guard budgets.withLock({ $0.keys.wait(for: plug, now: now) }) == nil else { return false }
        return await work { [self] in
            try paired.announce(key, of: plug) { budgets.withLock { $0.keys.spend(for: plug, now: now) } }
        }
    }

    /// Replaces the plug's key with the announced key, after the plug proved that it holds the announced key. The write
    /// needs no budget, because each announced key is proved only once.
    func proved(_ key: PublicKey, by plug: PlugID) async {
        _ = await work { [paired] in try paired.proved(key, by: plug) }
    }

    /// Stores the plug's name. Waits until the plug's budget allows a write.
    func rename(_ plug: PlugID, to names: PlugNames) async throws {
        while let wait = budgets.withLock({ $0.names.wait(for: plug, now: BootClock.now) }) {
            try await Task.sleep(for: wait)
        }
        try await paired.rename(plug, to: names) {
            budgets.withLock { $0.names.spend(for: plug, now: BootClock.now) }
        }
    }

    /// Stores the address at which the plug was reached. A failed write has no consequence.
    func note(_ recent: RecentAddress, of plug: PlugID) async {
        _ = await work { [paired] in try paired.note(recent, of: plug) }
    }

    /// Waits for all requested writes of keys and ends the thread. Later writes of keys fail.
    func stop() async {
        try? await thread.runIfActive {}
        try? await thread.shutdownGracefully()
    }

    private func work(_ body: @escaping @Sendable () throws -> Void) async -> Bool {
        do {
            try await thread.runIfActive(body)
            return true
        } catch {
            return false
        }
    }
}

/// Limits the writes that each plug can cause within a sliding hour.
struct WriteBudget {
    static let period = Duration.seconds(3600)
    /// A key rotation spends one write. The other writes are for rotations that start again.
    static let keysPerHour = 4
    /// A user renames a plug a few times while they set it up.
    static let namesPerHour = 8
    static let ofKeys = WriteBudget(limit: keysPerHour)
    static let ofNames = WriteBudget(limit: namesPerHour)

    let limit: Int
    /// The times of the writes within the last hour. The number of plugs is limited to `PairedPlugs.limit`.
    private var writes: [PlugID: [Instant]] = [:]

    init(limit: Int) { self.limit = limit }

    /// The time until the plug's next write is allowed; nil if it is allowed now.
    func wait(for plug: PlugID, now: Instant) -> Duration? {
        let recent = recent(of: plug, now: now)
        guard recent.count >= limit, let oldest = recent.first else { return nil }
        return oldest + Self.period - now
    }

    /// Records a write.
    mutating func spend(for plug: PlugID, now: Instant) {
        let recent = recent(of: plug, now: now) + [now]
        if writes[plug] == nil, writes.count >= PairedPlugs.limit {
            let oldest = writes.min { ($0.value.last ?? .zero) < ($1.value.last ?? .zero) }
            if let oldest { writes[oldest.key] = nil }
        }
        writes[plug] = Array(recent.suffix(limit))
    }

    private func recent(of plug: PlugID, now: Instant) -> [Instant] {
        (writes[plug] ?? []).filter { now - $0 < Self.period }
    }
}
