import GRDB
public import PlugModel

/// The data that a repair could not copy.
public struct SalvageReport: Hashable, Sendable {
    /// A lost span of samples of one plug.
    public struct Loss: Hashable, Sendable {
        /// The owner of the lost samples.
        public var plug: PlugID
        /// The plug's name, or its id if it has no name.
        public var title: String
        /// Milliseconds since 1970, UTC, from the beginning of the loss to its end.
        public var span: ClosedRange<Int64>
        /// The energy of this span that the roll-ups of minutes still have.
        public var milliwattHours: Double
        /// The part of the span that these roll-ups cover, in milliseconds.
        public var knownMilliseconds: Int64
    }

    /// The number of unreadable chunks, as far as they can be counted.
    public var chunks: Int
    /// Sorted by plug and time, at most ``limit``.
    public var losses: [Loss] = []
    /// The number of losses beyond the limit.
    public var omitted = 0

    /// Lost rows of a table other than the table of chunks.
    public struct TableLoss: Hashable, Sendable {
        /// The table's name in the database.
        public var table: String
        /// The number of unreadable rows, as far as they can be counted.
        public var rows = 0
        /// False if a page of the table is damaged: more rows may be lost.
        public var isCounted = true

        /// The content of the table, for the user.
        public var title: String {
            switch table {
            case "plug": "names of plugs"
            case "boot": "restarts of plugs"
            case "counter": "counter readings"
            case "rollup": "sums"
            case "event": "events"
            case "firing": "firings of rules"
            case "trace": "traces of rules"
            case _: table
            }
        }
    }

    /// The tables that lost rows, except the table of chunks.
    public var tables: [TableLoss]

    /// The maximum number of losses in a report. It stops a file with damage everywhere from filling the memory.
    public static let limit = 1000

    init(chunks: Int, tables: [TableLoss] = []) { (self.chunks, self.tables) = (chunks, tables) }

    /// Finds the lost samples: from the repaired history, and from spans that an index of the damaged database still
    /// had.
    ///
    /// - Parameter spans: The spans of unreadable chunks, by plug.
    mutating func find(in copy: PowerHistory, spans: [PlugID: [ClosedRange<Int64>]]) throws(HistoryError) {
        for plug in try copy.plugs() {
            let kept = try copy.chunkSpans(of: plug.id)
            var lost: [ClosedRange<Int64>] = spans[plug.id] ?? []
            // After deletion by age only coarse roll-ups are left, which is not a loss.
            let from = try copy.forgotten(plug.id) ?? .min
            for step in [RollUpStep.minute, .quarter, .hour] {
                let entries = try copy.summaries(of: plug.id, step: step, from: from, to: .max)
                lost += entries.compactMap { entry in
                    let span = entry.start...entry.start + step.milliseconds - 1
                    guard entry.coveredMilliseconds > 0, !kept.touches(span) else { return nil }
                    return span
                }
            }
            for span in lost.merged() {
                let entries = try copy.summaries(
                    of: plug.id, step: .minute, from: span.lowerBound, to: span.upperBound)
                let loss = Loss(
                    plug: plug.id, title: plug.title, span: span,
                    milliwattHours: entries.reduce(0) { $0 + $1.milliwattHours },
                    knownMilliseconds: entries.reduce(0) { $0 + $1.coveredMilliseconds })
                if losses.count < Self.limit { losses.append(loss) } else { omitted += 1 }
            }
        }
    }
}

extension PowerHistory {
    /// Returns the spans of the plug's chunks, sorted and disjoint.
    fileprivate func chunkSpans(of plug: PlugID) throws(HistoryError) -> [ClosedRange<Int64>] {
        try read { database in
            guard let row = try database.row(of: plug) else { return [] }
            var spans: [ClosedRange<Int64>] = []
            try database.query("SELECT since, until FROM chunk WHERE plug = ? ORDER BY since", .integer(row)) { row in
                if row.integer(0) <= row.integer(1) { spans.append(row.integer(0)...row.integer(1)) }
            }
            return spans.merged()
        }
    }

    /// Returns the time before which the plug's samples were deleted by age; nil if none were.
    fileprivate func forgotten(_ plug: PlugID) throws(HistoryError) -> Int64? {
        try read { database in
            try database.integer("SELECT samples_from FROM plug WHERE plug = ?", .text(plug.rawValue))
        }
    }
}

extension [ClosedRange<Int64>] {
    /// Joins spans that overlap or are at most one minute apart.
    fileprivate func merged() -> [ClosedRange<Int64>] {
        var merged: [ClosedRange<Int64>] = []
        for span in sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, span.lowerBound <= last.upperBound.addingClamped(60_000) {
                merged[merged.count - 1] = last.lowerBound...Swift.max(last.upperBound, span.upperBound)
            } else {
                merged.append(span)
            }
        }
        return merged
    }

    /// Returns true if one of these spans, which are sorted, overlaps a span.
    fileprivate func touches(_ span: ClosedRange<Int64>) -> Bool {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].upperBound < span.lowerBound { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].lowerBound <= span.upperBound
    }
}

extension SalvageReport.TableLoss: CustomStringConvertible {
    /// The title of the table and the number of lost rows, for example "events: 3 lost".
    public var description: String {
        switch (rows, isCounted) {
        case (0, _): "\(title): some may be lost, because one of their pages is damaged"
        case (let rows, true): "\(title): \(rows) lost"
        case (let rows, false): "\(title): at least \(rows) lost"
        }
    }
}
