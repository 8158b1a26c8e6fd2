import GRDB
import Metering
import PlugModel

/// Takes what is readable out of a damaged database.
struct Salvage {
    let damaged: DatabaseQueue
    let path: String
    let copy: PowerHistory

    /// Rows copied in one transaction.
    private static let rowsAPiece = 200

    /// Copies all that can be read into an empty history. Roll-ups of samples are made anew; those of samples that were
    /// forgotten or cannot be read are copied as they are.
    ///
    /// - Parameter progress: takes how many of how many rows were looked at.
    func run(progress: (_ done: Int64, _ of: Int64) -> Void) throws(HistoryError) -> SalvageReport {
        let plugs = try copyPlugs()
        // Before the roll-ups: a counter makes those around it anew, while there are no samples yet.
        try copyReadings(plugs)
        try copyRollUps(plugs)
        let (lost, spans) = try copyChunks(plugs, progress)
        try copyEvents(plugs)
        var report = SalvageReport(chunks: lost)
        try report.find(in: copy, spans: spans)
        return report
    }

    private func read<Value>(_ body: (Database) throws -> Value) throws(HistoryError) -> Value {
        try damaged.reading(path, body)
    }

    private func copyPlugs() throws(HistoryError) -> [Int64: PlugID] {
        let plugs = try readable("plug", "id, plug, name, samples_from, minutes_from") { row in
            PlugID(rawValue: row.text(1)).map { plug in
                let forgotten = [3, 4].map { row.isNull($0) ? SQLValue.null : .integer(row.integer($0)) }
                return (row: row.integer(0), plug: plug, name: row.text(2), forgotten: forgotten)
            }
        }
        var batch = HistoryBatch()
        for plug in plugs { batch.names[plug.plug] = plug.name }
        try copy.record(batch)
        try copy.write { database in
            for plug in plugs {
                try database.change(
                    "UPDATE plug SET samples_from = ?, minutes_from = ? WHERE plug = ?", plug.forgotten[0],
                    plug.forgotten[1], .text(plug.plug.rawValue))
            }
        }
        return Dictionary(plugs.map { ($0.row, $0.plug) }) { first, _ in first }
    }

    private func copyChunks(
        _ plugs: [Int64: PlugID], _ progress: (Int64, Int64) -> Void
    ) throws(HistoryError) -> (count: Int, spans: [PlugID: [ClosedRange<Int64>]]) {
        let boots = try boots()
        // What the index still knows of a row that cannot be read.
        var indexed: [Int64: (plug: Int64, span: ClosedRange<Int64>)] = [:]
        let known = try readable(
            "chunk INDEXED BY chunk_by_time", "rowid, plug, since, until", key: "plug, since, until"
        ) { row in
            row.integer(2) <= row.integer(3) ? (row.integer(0), row.integer(1), row.integer(2)...row.integer(3)) : nil
        }
        for (id, plug, span) in known { indexed[id] = (plug, span) }
        let numbers = try read { try RowNumbers($0, of: "chunk", index: "chunk_by_time") }
        var (lost, batch) = (Int(clamping: numbers.skipped), HistoryBatch())
        for (index, id) in numbers.readable.enumerated() {
            let row = try read { database -> (plug: Int64, boot: Int64, since: Int64, chunk: SampleChunk)? in
                var found: (plug: Int64, boot: Int64, since: Int64)?
                do {
                    try database.query("SELECT plug, boot, since FROM chunk WHERE id = ?", .integer(id)) {
                        found = ($0.integer(0), $0.integer(1), $0.integer(2))
                    }
                } catch let error as DatabaseError where error.isDamage {
                    return nil
                }
                guard let found, let chunk = try database.chunk(id) else { return nil }
                return (found.plug, found.boot, found.since, chunk)
            }
            if let row, let plug = plugs[row.plug], let boot = boots[row.boot] {
                indexed[id] = nil
                let origin = row.since.subtractingClamped(row.chunk.firstMilliseconds)
                batch.chunks.append(StoredChunk(plug: plug, boot: boot, origin: origin, chunk: row.chunk))
            } else {
                lost += 1
            }
            if batch.chunks.count == Self.rowsAPiece || index == numbers.readable.count - 1 {
                try copy.record(batch)
                batch = HistoryBatch()
                progress(Int64(index + 1), Int64(numbers.readable.count))
            }
        }
        var spans: [PlugID: [ClosedRange<Int64>]] = [:]
        for (plug, span) in indexed.values { if let plug = plugs[plug] { spans[plug, default: []].append(span) } }
        return (max(lost, indexed.count), spans)
    }

    private func copyReadings(_ plugs: [Int64: PlugID]) throws(HistoryError) {
        let boots = try boots()
        var batch = HistoryBatch()
        batch.counters = try readable(
            "counter", "plug, boot, wall, clock, milliwatt_hours", key: "plug, wall, boot"
        ) { row in
            guard let plug = plugs[row.integer(0)], let boot = boots[row.integer(1)] else { return nil }
            return CounterReading(
                plug: plug, boot: boot, origin: row.integer(2).subtractingClamped(row.integer(3)),
                milliseconds: row.integer(3), milliwattHours: UInt64(bitPattern: row.integer(4)))
        }
        try copy.record(batch)
    }

    private func copyEvents(_ plugs: [Int64: PlugID]) throws(HistoryError) {
        var batch = HistoryBatch()
        batch.events = try readable("event", "plug, at, known, bytes", key: "plug, sequence, bytes") { row in
            guard let plug = plugs[row.integer(0)], let content = try? StoredEvent.Content(decoding: row.bytes(3))
            else {
                return nil
            }
            return StoredEvent(plug: plug, content: content, at: row.integer(1), isTimeKnown: row.integer(2) != 0)
        }
        batch.firings = try readable("firing", "at, rule, plug, cause", key: "at, rule, plug, cause") { row in
            StoredFiring(
                at: row.integer(0), rule: row.text(1), plug: PlugID(rawValue: row.text(2)), cause: row.text(3))
        }
        // An earlier version kept none.
        if try read({ try $0.tableExists("trace") }) {
            batch.traces = try readable("trace", "trace, at, rule, fired, json") { StoredTrace($0) }
        }
        try copy.record(batch)
    }

    private func copyRollUps(_ plugs: [Int64: PlugID]) throws(HistoryError) {
        let cells = try readable("rollup", "plug, step, block, bytes") { row -> (PlugID, Int64, Int64, [UInt8])? in
            guard let plug = plugs[row.integer(0)], let step = RollUpStep(rawValue: Int(row.integer(1))),
                (try? RollUpBlock(step, decoding: row.bytes(3))) != nil
            else { return nil }
            return (plug, row.integer(1), row.integer(2), row.bytes(3))
        }
        try copy.write { database in
            for (plug, step, block, bytes) in cells {
                guard let row = try database.row(of: plug) else { continue }
                try database.change(
                    """
                    INSERT INTO rollup (plug, step, block, bytes) VALUES (?, ?, ?, ?)
                    ON CONFLICT (plug, step, block) DO UPDATE SET bytes = excluded.bytes
                    """, .integer(row), .integer(step), .integer(block), .bytes(bytes))
            }
        }
    }

    private func boots() throws(HistoryError) -> [Int64: BootID] {
        let boots = try readable("boot", "id, boot") { row in BootID(bytes: row.bytes(1)).map { (row.integer(0), $0) } }
        return Dictionary(boots) { first, _ in first }
    }

    /// What can be read of a table: row by row where there are numbers of rows, so that a damaged page costs only what stands
    /// on it; else, by its key, from both ends up to the damage.
    private func readable<Value>(
        _ table: String, _ columns: String, key: String? = nil, _ value: (SQLRow) -> Value?
    ) throws(HistoryError) -> [Value] {
        try read { database in
            var values: [Value] = []
            func take(_ row: SQLRow) { if let value = value(row) { values.append(value) } }
            do {
                try database.query("SELECT \(columns) FROM \(table)", row: take)
                return values
            } catch let error as DatabaseError where error.isDamage {
                if let key {
                    // Nothing is read twice: the pass before did not come to the end.
                    let order = key.split(separator: ",").map { $0 + " DESC" }.joined(separator: ",")
                    try? database.query("SELECT \(columns) FROM \(table) ORDER BY \(order)", row: take)
                    return values
                }
                values = []
                for id in try RowNumbers(database, of: table).readable {
                    try? database.query("SELECT \(columns) FROM \(table) WHERE rowid = ?", .integer(id), row: take)
                }
                return values
            }
        }
    }
}
