import GRDB
public import PlugModel

/// What a repair could not copy.
public struct SalvageReport: Hashable, Sendable {
    /// Samples of one plug.
    public struct Loss: Hashable, Sendable {
        public var plug: PlugID
        /// The plug's name, or its id where it has none.
        public var title: String
        /// Milliseconds since 1970, UTC: from the first to the end of the last that was lost.
        public var span: ClosedRange<Int64>
        /// What roll-ups still know of the energy in this span.
        public var milliwattHours: Double
        /// Of the span, for how long they know it.
        public var knownMilliseconds: Int64
    }

    /// Chunks of samples that could not be read, as far as they can be counted.
    public var chunks: Int
    /// By plug and time, ``limit`` at most.
    public var losses: [Loss] = []
    /// Losses that are not among these.
    public var omitted = 0

    /// Rows of a table other than that of the samples.
    public struct TableLoss: Hashable, Sendable {
        /// The table's name in the database.
        public var table: String
        /// Rows that could not be read, as far as they can be counted.
        public var rows = 0
        /// False if a page of the table is damaged: then there may have been more.
        public var isCounted = true

        /// What the table has, for a person.
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

    /// Tables other than that of the samples of which rows are lost.
    public var tables: [TableLoss]

    /// Stops a file that is damaged everywhere from filling the memory.
    public static let limit = 1000

    init(chunks: Int, tables: [TableLoss] = []) { (self.chunks, self.tables) = (chunks, tables) }

    /// Of the history that was made, and of spans that an index of the damaged one still knew.
    ///
    /// - Parameter spans: of chunks that could not be read, by plug.
    mutating func find(in copy: PowerHistory, spans: [PlugID: [ClosedRange<Int64>]]) throws(HistoryError) {
        for plug in try copy.plugs() {
            let kept = try copy.chunkSpans(of: plug.id)
            var lost: [ClosedRange<Int64>] = spans[plug.id] ?? []
            for step in [RollUpStep.minute, .quarter, .hour] {
                // Of samples that were forgotten by age only coarse ones are left, and those are no loss.
                let from = try copy.forgotten(plug.id, step) ?? .min
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
    /// Of the plug's chunks, rising and apart from each other.
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

    /// Before this the plug's samples, or its minutes, were forgotten by age; nil where none were.
    fileprivate func forgotten(_ plug: PlugID, _ step: RollUpStep) throws(HistoryError) -> Int64? {
        try read { database in
            try database.integer("SELECT samples_from FROM plug WHERE plug = ?", .text(plug.rawValue))
        }
    }
}

extension [ClosedRange<Int64>] {
    /// Each that touches another one, or begins at most a minute behind it, is one with that.
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

    /// Of spans that rise: whether one has a moment of this in it.
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
    /// One sentence.
    public var description: String {
        switch (rows, isCounted) {
        case (0, _): "\(title): some may be lost, because a page of them is damaged"
        case (let rows, true): "\(title): \(rows) lost"
        case (let rows, false): "\(title): at least \(rows) lost"
        }
    }
}
