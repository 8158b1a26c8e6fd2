import GRDB
public import Metering
public import PlugModel
import ProtocolCore

extension PowerHistory {
    /// Calls the body for each sample of a span, in ascending order of time. If chunks overlap, a sample that is not
    /// later than the previous one is skipped.
    ///
    /// - Parameters:
    ///   - from: Milliseconds since 1970, as is `to`; both are included.
    ///   - limit: The maximum number of samples. If the span has more samples, damage is not reported.
    ///   - body: Receives milliseconds since 1970 and the sample, whose own time is that of the plug's clock.
    /// - Returns: The spans whose samples are unreadable; empty if the span has more samples than `limit`.
    @discardableResult
    public func samples(
        of plug: PlugID, from: Int64, to: Int64, atMost limit: Int = .max,
        _ body: (_ milliseconds: Int64, _ sample: Sample) -> Void
    ) throws(HistoryError) -> [ClosedRange<Int64>] {
        let damaged = try read { database -> [ClosedRange<Int64>] in
            guard let plug = try database.row(of: plug) else { return [] }
            var last = Int64.min
            var count = 0
            do {
                return try database.eachChunk(of: plug, from: from, to: to) { samples, origin in
                    for sample in samples {
                        let time = sample.milliseconds &+ origin
                        guard time > last, time >= from, time <= to else { continue }
                        guard count < limit else { throw SampleLimitReached() }
                        (last, count) = (time, count + 1)
                        body(time, sample)
                    }
                }
            } catch is SampleLimitReached {
                return []
            }
        }
        if !damaged.isEmpty { reportDamage() }
        return damaged
    }

    /// Returns the active power of each step with `from <= start < to` that has a sample, in ascending order of time.
    public func summaries(
        of plug: PlugID, step: RollUpStep, from: Int64, to: Int64
    ) throws(HistoryError) -> [PowerSummary] {
        var isDamaged = false
        let summaries = try read { database -> [PowerSummary] in
            guard let plug = try database.row(of: plug) else { return [] }
            let rollUps = RollUps(database, plug: plug)
            var summaries: [PowerSummary] = []
            try rollUps.each(step, from: from, to: to) { start, entry in
                guard let summary = PowerSummary(start, entry, step) else { return }
                summaries.append(summary)
            }
            isDamaged = rollUps.foundDamage
            return summaries
        }
        if isDamaged { reportDamage() }
        return summaries
    }

    /// Returns the same as ``summaries(of:step:from:to:)``, but calculated from the samples, not from roll-ups. The
    /// energy includes only time with samples. If `from` or `to` cuts a step, only the part of the step within the span
    /// counts.
    public func summariesOfSamples(
        of plug: PlugID, step: RollUpStep, from: Int64, to: Int64
    ) throws(HistoryError) -> [PowerSummary] {
        var sum = SampleSum(step: step)
        let damaged = try read { database -> [ClosedRange<Int64>] in
            guard let plug = try database.row(of: plug) else { return [] }
            return try database.eachChunk(of: plug, from: from, to: to) { samples, origin in
                sum.add(samples, origin: origin, from: from, to: to.subtractingClamped(1))
            }
        }
        if !damaged.isEmpty { reportDamage() }
        return sum.finish().compactMap { PowerSummary($0.start, $0.entry, .minute) }
    }

    /// Returns the events and gaps of one plug, or of all plugs if `plug` is nil, in ascending order of time; `from`
    /// and `to` are included.
    ///
    /// - Parameter newest: Returns only this number of newest events; nil for all.
    public func events(
        of plug: PlugID?, from: Int64, to: Int64, newest limit: Int? = nil
    ) throws(HistoryError) -> [StoredEvent] {
        try read { database in
            var events: [StoredEvent] = []
            try database.query(
                """
                SELECT plug.plug, event.at, event.known, event.bytes FROM event JOIN plug ON plug.id = event.plug
                WHERE event.at BETWEEN ? AND ? AND (?3 = '' OR plug.plug = ?3)
                ORDER BY event.at DESC, event.plug DESC, event.sequence DESC LIMIT ?4
                """, .integer(from), .integer(to), .text(plug?.rawValue ?? ""), .integer(Self.rows(limit))
            ) { row in
                guard let plug = PlugID(rawValue: row.text(0)),
                    let content = try? StoredEvent.Content(decoding: row.bytes(3))
                else { return }
                events.append(
                    StoredEvent(plug: plug, content: content, at: row.time(1), isTimeKnown: row.integer(2) != 0))
            }
            return events.reversed()
        }
    }

    /// Returns the firings of rules in ascending order of time; `from` and `to` are included.
    ///
    /// - Parameter newest: Returns only this number of newest firings; nil for all.
    public func firings(
        from: Int64, to: Int64, newest limit: Int? = nil
    ) throws(HistoryError) -> [StoredFiring] {
        try read { database in
            var firings: [StoredFiring] = []
            try database.query(
                """
                SELECT at, rule, plug, cause FROM firing WHERE at BETWEEN ? AND ? ORDER BY at DESC, rule DESC LIMIT ?
                """, .integer(from), .integer(to), .integer(Self.rows(limit))
            ) { row in
                firings.append(
                    StoredFiring(
                        at: row.time(0), rule: row.text(1), plug: PlugID(rawValue: row.text(2)), cause: row.text(3)))
            }
            return firings.reversed()
        }
    }

    /// Returns the operand of SQLite's LIMIT, to which a negative number means no limit.
    private static func rows(_ limit: Int?) -> Int64 { limit.map(Int64.init) ?? -1 }
}

/// Ends a read when the limit of samples is reached.
private struct SampleLimitReached: Error {}

extension PowerSummary {
    /// Returns nil if the entry has no sample.
    fileprivate init?(_ start: Int64, _ entry: RollUpEntry, _ step: RollUpStep) {
        guard let power = entry.power else { return nil }
        let energy =
            step == .minute ? Double(power.mean) * Double(entry.covered) / 3_600_000 : Double(entry.energy) / 1000
        self.init(
            start: start, coveredMilliseconds: entry.covered, mean: Double(power.mean) / 1000,
            least: Double(power.least) / 10, greatest: Double(power.greatest) / 10,
            milliwattHours: energy)
    }
}
