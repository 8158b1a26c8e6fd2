import Automation

/// Records that nobody has taken yet. Behind a reader that stands still scripts go on, by their timers and their answers, and the
/// memory must not fill with what they say.
struct UnsentRecords {
    /// Lines of what scripts' functions do and say, 8 MB at most. Beyond it the oldest are left out.
    static let detailLimit = 16_384
    /// Records in all. One event, with all that waits for the same write, causes far fewer.
    static let limit = 65_536

    private var records: [RunnerRecord] = []
    private var next = 0
    /// Lines of those among `records` that may be left out first.
    private var detail = 0
    private var leftOut = 0

    mutating func add(_ record: RunnerRecord) {
        records.append(record)
        detail += record.notice.detail
        if detail > Self.detailLimit || records.count - next > Self.limit { makeRoom() }
    }

    /// The oldest one; before it how many were left out since the one before.
    mutating func takeNext() -> RunnerRecord? {
        guard next < records.count else { return nil }
        if leftOut > 0 {
            defer { leftOut = 0 }
            return RunnerRecord(at: records[next].at, notice: .recordsLeftOut(leftOut))
        }
        let record = records[next]
        detail -= record.notice.detail
        next += 1
        // Not one by one: that would move all others each time.
        if next == records.count || next >= 1024 {
            records.removeFirst(next)
            next = 0
        }
        return record
    }

    /// A quarter at once, so that it is seldom.
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

extension HouseNotice {
    /// Lines that it has where it may be left out before all others; 0 of what may not.
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
