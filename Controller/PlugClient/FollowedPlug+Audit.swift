public import LinuxSystem
public import PlugModel
import ProtocolCore

/// An entry of a plug's audit log with its time.
public struct DatedAuditEntry: Hashable, Sendable {
    /// The entry as the plug sent it.
    public var entry: AuditEntry
    /// The wall-clock time of the entry. Nil if the entry belongs to an earlier boot: the entry has only the time since
    /// that boot, and the plug has no battery-backed clock.
    public var at: WallTime?

    /// Creates an entry from its parts.
    public init(_ entry: AuditEntry, at: WallTime?) {
        self.entry = entry
        self.at = at
    }
}

extension FollowedPlug {
    /// The maximum number of entries, which is more than a plug stores. The limit prevents a plug that invents entries
    /// from filling the memory.
    private static let mostAuditEntries = 10_000

    /// Fetches the plug's audit log, oldest entry first: pairings, removals and refusals, changes of the name, the
    /// settings and the firmware, and resets. The plug must be connected.
    ///
    /// - Parameter limit: The maximum number of entries, newest ones preferred; nil for all entries.
    /// - Throws: `Refusal` if the plug has no audit log, is not connected or does not answer, or while another call of
    ///   this function runs.
    public func audit(limit: Int? = nil) async throws -> [DatedAuditEntry] {
        let most = min(limit ?? Self.mostAuditEntries, Self.mostAuditEntries)
        var entries: [DatedAuditEntry] = []
        while entries.count < most {
            let left = limit.map { _ in UInt32(most - entries.count) }
            let page = try await part(after: entries.last?.entry.number ?? 0, limit: left).get()
            entries += page.entries.map { DatedAuditEntry($0, at: time(of: $0)) }
            if page.isLast { break }
        }
        return Array(entries.prefix(most))
    }

    private func part(after number: UInt64, limit: UInt32?) async -> Result<AuditPage, Refusal> {
        guard machine.isConnected else { return .failure(Refusal(.unknown, "the plug is not connected")) }
        guard auditQuestion == nil else { return .failure(Refusal(.busy, "the audit log is already being read")) }
        return await withCheckedContinuation { continuation in
            auditQuestion = continuation
            handle(.request(.fetchAudit(after: number, limit: limit)))
        }
    }

    func answerAudit(_ answer: Result<AuditPage, Refusal>) {
        auditQuestion.take()?.resume(returning: answer)
    }

    private func time(of entry: AuditEntry) -> WallTime? {
        guard let clock = machine.clock, clock.boot == entry.boot else { return nil }
        return WallTime.now - max(.zero, BootClock.now - clock.instant(ofPlugTime: entry.time))
    }
}
