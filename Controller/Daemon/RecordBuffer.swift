import DurableRules

/// The records that are not delivered yet. Their number is limited, because scripts continue to produce records while a
/// reader is blocked.
struct RecordBuffer {
    /// The maximum number of lines about calls of scripts: one per start and per end of a call, and the lines that the
    /// functions log. They have 8 MB at most. The oldest lines are dropped first.
    static let detailLimit = 16_384
    /// The maximum number of records. One event causes far fewer, including the records that wait for the same write.
    static let limit = 65_536

    private var records: [RunnerRecord] = []
    private var next = 0
    /// The number of lines in the records that may be dropped first.
    private var detail = 0
    private var leftOut = 0

    mutating func add(_ record: RunnerRecord) {
        records.append(record)
        detail += record.notice.detail
        if detail > Self.detailLimit || records.count - next > Self.limit { makeRoom() }
    }

    /// Removes and returns the oldest record. If records were dropped before it, a record with their number is returned
    /// first.
    mutating func takeNext() -> RunnerRecord? {
        guard next < records.count else { return nil }
        if leftOut > 0 {
            defer { leftOut = 0 }
            return RunnerRecord(at: records[next].at, notice: .recordsLeftOut(leftOut))
        }
        let record = records[next]
        detail -= record.notice.detail
        next += 1
        // Removed in groups, because each removal moves all other records.
        if next == records.count || next >= 1024 {
            records.removeFirst(next)
            next = 0
        }
        return record
    }

    /// Drops about a quarter of the records at once, so that this function is rarely called.
    private mutating func makeRoom() {
        var kept: [RunnerRecord] = []
        for record in records[next...] {
            let lines = record.notice.detail
            if lines > 0, detail > Self.detailLimit / 4 * 3 { detail -= lines } else { kept.append(record) }
        }
        if kept.count > Self.limit {
            let oldest = kept.prefix(kept.count - Self.limit / 4 * 3)
            detail -= oldest.reduce(0) { $0 + $1.notice.detail }
            kept.removeFirst(oldest.count)
        }
        leftOut += records.count - next - kept.count
        (records, next) = (kept, 0)
    }
}

extension RuleNotice {
    /// The number of lines of a notice that may be dropped before others; 0 for other notices.
    fileprivate var detail: Int {
        switch self {
        case .calling, .called: 1
        case .scriptLogged(_, let lines): max(1, lines.count)
        case .following, .lost, .gap, .renamed, .firing, .heldBack, .notSent, .nearMiss, .commanded, .performing,
            .remembered,
            .step, .effect, .callFailed, .commandsHeldBack, .timersHeldBack, .scriptEnded, .scriptRuns, .ruleEnabled,
            .rulesChanged,
            .fileBroken, .fileSound, .resumed, .command, .notStored, .storedInReserve, .stored, .recordsLeftOut:
            0
        }
    }
}
