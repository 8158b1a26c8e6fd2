public import LinuxClocks
public import PlugModel
import ProtocolCore

/// An entry of a plug's audit log, and when it happened.
public struct DatedAuditEntry: Hashable, Sendable {
    public var entry: AuditEntry
    /// Nil: in an earlier boot of the plug, which has no battery clock.
    public var at: WallTime?

    public init(_ entry: AuditEntry, at: WallTime?) {
        self.entry = entry
        self.at = at
    }
}

extension FollowedPlug {
    /// More than any plug keeps: stops one that makes up entries from filling the memory.
    private static let mostAuditEntries = 10_000

    /// The plug's audit log, oldest first: who was paired, removed and refused, who changed its name, its settings and its
    /// firmware, who reset it. To be asked while it is connected.
    ///
    /// - Parameter limit: the newest so many; nil: all.
    /// - Throws: `Refusal` where the plug keeps none, or did not answer.
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
        guard auditQuestion == nil else { return .failure(Refusal(.busy, "somebody is reading the audit log already")) }
        return await withCheckedContinuation { continuation in
            auditQuestion = continuation
            handle(.fetchAudit(after: number, limit: limit))
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
