import GRDB
public import Metering
public import PlugModel
import ProtocolCore

extension PowerHistory {
    /// Hands over each sample of a span of the wall clock, in order. Where chunks overlap, a sample that is not later than the
    /// one before is left out.
    ///
    /// - Parameters:
    ///   - from: milliseconds since 1970, as is `to`; both are included.
    ///   - limit: no more than these; what is damaged is not told then.
    ///   - body: takes the wall clock's milliseconds; the sample's own are those of the plug's clock.
    /// - Returns: spans whose samples are damaged.
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
                        guard count < limit else { throw Enough() }
                        (last, count) = (time, count + 1)
                        body(time, sample)
                    }
                }
            } catch is Enough {
                return []
            }
        }
        if !damaged.isEmpty { tellDamage() }
        return damaged
    }

    /// Active power by steps with `from <= start < to`, in order, only those with a sample.
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
        if isDamaged { tellDamage() }
        return summaries
    }

    /// The same as ``summaries(of:step:from:to:)`` from the samples themselves, whatever roll-ups there are: energy is that
    /// of the samples alone. A step that is cut off by `from` or `to` counts what is inside.
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
        if !damaged.isEmpty { tellDamage() }
        return sum.finish().compactMap { PowerSummary($0.start, $0.entry, .minute) }
    }

    /// Events and gaps of one plug or, without one, of all, by time; `from` and `to` are included.
    ///
    /// - Parameter newest: no more than these, the newest; nil for all.
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

    /// What rules did, by time; `from` and `to` are included.
    ///
    /// - Parameter newest: no more than these, the newest; nil for all.
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

    /// As SQLite's LIMIT has it, to which less than nothing is no limit.
    private static func rows(_ limit: Int?) -> Int64 { limit.map(Int64.init) ?? -1 }
}

/// Ends a reading before its time.
private struct Enough: Error {}

extension PowerSummary {
    /// Nil where there is no sample.
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
