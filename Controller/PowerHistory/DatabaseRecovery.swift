import GRDB
import Metering
import PlugModel

/// Copies the readable data of a damaged database into a new one.
struct DatabaseRecovery {
    let damaged: DatabaseQueue
    let path: String
    let copy: PowerHistory
    /// The tables that lost rows, except that of the chunks.
    private var tables: [SalvageReport.TableLoss] = []

    init(damaged: DatabaseQueue, path: String, copy: PowerHistory) {
        (self.damaged, self.path, self.copy) = (damaged, path, copy)
    }

    /// The number of rows per transaction.
    private static let rowsAPiece = 200

    /// Copies all readable data into an empty history. Roll-ups of samples are recomputed. Roll-ups whose samples were
    /// deleted by age or are unreadable are copied as they are.
    ///
    /// - Parameter progress: Receives the number of processed rows and the number of all rows.
    mutating func run(progress: (_ done: Int64, _ of: Int64) -> Void) throws(HistoryError) -> SalvageReport {
        let plugs = try copyPlugs()
        // Counter readings come before the roll-ups: a reading causes a recomputation of the roll-ups around it, and
        // there are no samples yet.
        let boots = try boots()
        try copyReadings(plugs, boots)
        try copyRollUps(plugs)
        let (lost, spans) = try copyChunks(plugs, boots, progress)
        try copyEvents(plugs)
        var report = SalvageReport(chunks: lost, tables: tables)
        try report.find(in: copy, spans: spans)
        return report
    }

    private func read<Value>(_ body: (Database) throws -> Value) throws(HistoryError) -> Value {
        try damaged.reading(path, body)
    }

    private mutating func copyPlugs() throws(HistoryError) -> [Int64: PlugID] {
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
        var found = Dictionary(plugs.map { ($0.row, $0.plug) }) { first, _ in first }
        // The index has the plug's id, but not its name.
        let indexed = try indexed("plug", "plug", by: "sqlite_autoindex_plug_1") { PlugID(rawValue: $0.text(0)) }
        let known = Set(found.values)
        for (row, plug) in indexed where found[row] == nil && !known.contains(plug) { found[row] = plug }
        return found
    }

    private func copyChunks(
        _ plugs: [Int64: PlugID], _ boots: [Int64: BootID], _ progress: (Int64, Int64) -> Void
    ) throws(HistoryError) -> (count: Int, spans: [PlugID: [ClosedRange<Int64>]]) {
        // The spans of unreadable rows, as far as an index has them.
        var spans: [Int64: (plug: Int64, span: ClosedRange<Int64>)] = [:]
        let known = try indexed("chunk", "plug, since, until", by: "chunk_by_time") { row in
            row.integer(1) <= row.integer(2) ? (row.integer(0), row.integer(1)...row.integer(2)) : nil
        }
        for (id, span) in known { spans[id] = span }
        let byTime = DamagedTable.Index(name: "chunk_by_time", columns: "plug, since, until")
        let byBoot = DamagedTable.Index(name: "chunk_by_boot", columns: "boot, first")
        let (copy, batches) = (copy, PendingChunks())
        let result = try read { database in
            let table = DamagedTable(database: database, name: "chunk", indexes: [byTime, byBoot])
            let store = {
                try copy.record(batches.batch)
                batches.batch = HistoryBatch()
            }
            let result = try table.read("plug, boot, since, crc, bytes") { done, count in
                progress(Int64(done), Int64(count))
            } _: { row in
                guard let plug = plugs[row.integer(0)], let boot = boots[row.integer(1)], let chunk = row.chunk(3)
                else { return false }
                spans[row.integer(5)] = nil
                let origin = row.integer(2).subtractingClamped(chunk.firstMilliseconds)
                batches.batch.chunks.append(StoredChunk(plug: plug, boot: boot, origin: origin, chunk: chunk))
                if batches.batch.chunks.count == Self.rowsAPiece { try store() }
                return true
            }
            try store()
            return result
        }
        var lost: [PlugID: [ClosedRange<Int64>]] = [:]
        for (plug, span) in spans.values { if let plug = plugs[plug] { lost[plug, default: []].append(span) } }
        return (max(result.lost, spans.count), lost)
    }

    /// The chunks that are not in the copy yet.
    private final class PendingChunks { var batch = HistoryBatch() }

    private mutating func copyReadings(
        _ plugs: [Int64: PlugID], _ boots: [Int64: BootID]
    ) throws(HistoryError) {
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

    private mutating func copyEvents(_ plugs: [Int64: PlugID]) throws(HistoryError) {
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
        // An earlier version had no traces.
        if try read({ try $0.tableExists("trace") }) {
            batch.traces = try readable("trace", "trace, at, rule, fired, json") { StoredTrace($0) }
        }
        try copy.record(batch)
    }

    private mutating func copyRollUps(_ plugs: [Int64: PlugID]) throws(HistoryError) {
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

    private mutating func boots() throws(HistoryError) -> [Int64: BootID] {
        let boots = try readable("boot", "id, boot") { row in BootID(bytes: row.bytes(1)).map { (row.integer(0), $0) } }
        var found = Dictionary(boots) { first, _ in first }
        let indexed = try indexed("boot", "plug, boot", by: "sqlite_autoindex_boot_1") { BootID(bytes: $0.bytes(1)) }
        for (row, boot) in indexed where found[row] == nil { found[row] = boot }
        return found
    }

    /// Returns the values that an index has, keyed by row number; nothing without the index.
    private func indexed<Value>(
        _ table: String, _ columns: String, by index: String, _ value: (SQLRow) -> Value?
    ) throws(HistoryError) -> [Int64: Value] {
        try read { database in
            var values: [Int64: Value] = [:]
            let table = DamagedTable(database: database, name: table)
            func take(_ row: SQLRow) { if let value = value(row) { values[row.integer(row.columns - 1)] = value } }
            let keys = "SELECT \(columns), rowid FROM \(table.name) INDEXED BY \(index) ORDER BY "
            guard try table.has(DamagedTable.Index(name: index, columns: columns)) else { return values }
            if try !table.scan(keys + columns, take) { _ = try table.scan(keys + Self.falling(columns), take) }
            return values
        }
    }

    private static func falling(_ columns: String) -> String {
        columns.split(separator: ",").map { $0 + " DESC" }.joined(separator: ",")
    }

    /// Returns the readable rows of a table. If the rows have numbers, it reads row by row, so that a damaged page
    /// costs only its own rows; otherwise it reads by the key, from both ends up to the damage. Lost rows are added to
    /// `tables`.
    private mutating func readable<Value>(
        _ name: String, _ columns: String, key: String? = nil, _ value: (SQLRow) -> Value?
    ) throws(HistoryError) -> [Value] {
        let (values, loss) = try read { database in
            var values: [Value] = []
            var loss = SalvageReport.TableLoss(table: name)
            func take(_ row: SQLRow) -> Bool {
                guard let value = value(row) else { return false }
                values.append(value)
                return true
            }
            let table = DamagedTable(database: database, name: name)
            if try table.scan("SELECT \(columns) FROM \(name) NOT INDEXED", { if !take($0) { loss.rows += 1 } }) {
                return (values, loss)
            }
            loss.isCounted = false
            if let key {
                // No row is read twice, because the previous pass ended early.
                _ = try table.scan("SELECT \(columns) FROM \(name) ORDER BY \(Self.falling(key))") {
                    if !take($0) { loss.rows += 1 }
                }
            } else {
                (values, loss.rows) = ([], 0)
                loss.rows = try table.read(columns, take).lost
            }
            return (values, loss)
        }
        if !loss.isCounted || loss.rows > 0 { tables.append(loss) }
        return values
    }
}

extension SQLRow {
    /// Reads a chunk from its checksum and its bytes in the next column; nil if they do not match.
    fileprivate func chunk(_ column: Int32) -> SampleChunk? {
        let bytes = bytes(column + 1)
        guard Int64(Checksum.crc32(bytes)) == integer(column) else { return nil }
        return try? SampleChunk(bytes: bytes)
    }
}
