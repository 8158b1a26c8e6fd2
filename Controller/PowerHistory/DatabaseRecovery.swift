import GRDB
import Metering
import PlugModel

/// Copies the readable data of a damaged database into a new one.
struct DatabaseRecovery {
    let damaged: DatabaseQueue
    let path: String
    let copy: PowerHistory
    /// The tables that lost rows, except the table of chunks.
    private var tables: [SalvageReport.TableLoss] = []

    init(damaged: DatabaseQueue, path: String, copy: PowerHistory) {
        (self.damaged, self.path, self.copy) = (damaged, path, copy)
    }

    /// The number of chunks per transaction.
    private static let rowsAPiece = 200

    /// Copies the readable data into an empty history, except the fetched spans, which are then fetched again, and the
    /// feed, which must be begun again. Roll-ups of samples are recomputed. Roll-ups whose samples were deleted by age
    /// or are unreadable are copied as they are.
    ///
    /// - Parameter progress: Receives the number of processed rows and the number of all rows.
    mutating func run(progress: (_ done: Int64, _ of: Int64) -> Void) throws(HistoryError) -> SalvageReport {
        let plugs = try copyPlugs()
        // Counter readings come before the roll-ups: a reading causes a recomputation of the roll-ups around it, which
        // costs nothing while the copy has no samples.
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

    private mutating func copyPlugs() throws(HistoryError) -> Numbered<PlugID> {
        struct PlugRow: Hashable {
            var row: Int64
            var plug: PlugID
            var name: String
            var samplesFrom, minutesFrom: Int64?
        }
        var plugs = try readable("plug", "id, plug, name, samples_from, minutes_from") { row in
            PlugID(rawValue: row.text(1)).map { plug in
                PlugRow(
                    row: row.integer(0), plug: plug, name: row.text(2),
                    samplesFrom: row.isNull(3) ? nil : row.integer(3), minutesFrom: row.isNull(4) ? nil : row.integer(4)
                )
            }
        }
        try addLost("plug", columns: "ntti???", to: &plugs, number: \.row) { row, values in
            guard case .text(let id) = values[1], case .text(let name) = values[2], let plug = PlugID(rawValue: id)
            else { return nil }
            return PlugRow(
                row: row, plug: plug, name: name, samplesFrom: values[5].integer, minutesFrom: values[6].integer)
        }
        var batch = HistoryBatch()
        for plug in plugs { batch.names[plug.plug] = plug.name }
        try copy.record(batch)
        try copy.write { database in
            for plug in plugs {
                try database.change(
                    "UPDATE plug SET samples_from = ?, minutes_from = ? WHERE plug = ?",
                    plug.samplesFrom.map(SQLValue.integer) ?? .null, plug.minutesFrom.map(SQLValue.integer) ?? .null,
                    .text(plug.plug.rawValue))
            }
        }
        var found = Dictionary(plugs.map { ($0.row, $0.plug) }) { first, _ in first }
        // The index has the plug's id, but not its name.
        let indexed = try indexed("plug", "plug", by: "sqlite_autoindex_plug_1") { PlugID(rawValue: $0.text(0)) }
        let known = Set(found.values)
        for (row, plug) in indexed where found[row] == nil && !known.contains(plug) { found[row] = plug }
        return Numbered(known: found, isComplete: isSound("plug")) { number in
            let digits = String(number, radix: 16)
            return PlugID(rawValue: String(repeating: "0", count: max(0, 12 - digits.count)) + digits)
        }
    }

    private func copyChunks(
        _ plugs: Numbered<PlugID>, _ boots: Numbered<BootRow>, _ progress: (Int64, Int64) -> Void
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
            let result = try table.read("plug, boot, since, until, crc, bytes") { done, count in
                progress(Int64(done), Int64(count))
            } _: { row in
                guard let plug = plugs[row.integer(0)], let boot = boots[row.integer(1)], let chunk = row.chunk(4)
                else { return false }
                spans[row.integer(6)] = nil
                let origin = Self.origin(of: chunk, since: row.integer(2), until: row.integer(3), boot.origin)
                batches.batch.chunks.append(StoredChunk(plug: plug, boot: boot.boot, origin: origin, chunk: chunk))
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

    /// Returns the wall clock at the zero of the plug's clock. If the start and the end of the row do not match its
    /// samples, one time is damaged, and the time that is closer to the boot's origin counts. If the boot's origin is
    /// unknown, the start counts.
    private static func origin(of chunk: SampleChunk, since: Int64, until: Int64, _ origin: Int64?) -> Int64 {
        let (fromStart, fromEnd) = (
            since.subtractingClamped(chunk.firstMilliseconds), until.subtractingClamped(chunk.lastMilliseconds)
        )
        guard fromStart != fromEnd, let origin else { return fromStart }
        let distances = (fromStart.subtractingClamped(origin).magnitude, fromEnd.subtractingClamped(origin).magnitude)
        return distances.0 <= distances.1 ? fromStart : fromEnd
    }

    /// The chunks that are not in the copy yet.
    private final class PendingChunks { var batch = HistoryBatch() }

    private mutating func copyReadings(
        _ plugs: Numbered<PlugID>, _ boots: Numbered<BootRow>
    ) throws(HistoryError) {
        var batch = HistoryBatch()
        batch.counters = try readable(
            "counter", "plug, boot, wall, clock, milliwatt_hours", key: .counter
        ) { row in
            guard let plug = plugs[row.integer(0)], let boot = boots[row.integer(1)] else { return nil }
            return CounterReading(
                plug: plug, boot: boot.boot, origin: row.integer(2).subtractingClamped(row.integer(3)),
                milliseconds: row.integer(3), milliwattHours: UInt64(bitPattern: row.integer(4)))
        }
        // All readings of a boot have nearly the same origin. A reading with a far origin is damaged, and storing it
        // would move all earlier readings of the boot. Such readings are therefore stored first; the correct readings
        // that follow move them to the right time.
        let middles = Dictionary(grouping: batch.counters, by: \.boot).mapValues { readings in
            readings.sorted { $0.origin < $1.origin }[readings.count / 2]
        }
        let isFar = { (reading: CounterReading) in
            let middle = middles[reading.boot] ?? reading
            let time = reading.milliseconds.subtractingClamped(middle.milliseconds).magnitude
            return reading.origin.subtractingClamped(middle.origin).magnitude
                > UInt64(BatchTransaction.clockTolerance) + time / UInt64(BatchTransaction.drift)
        }
        batch.counters = batch.counters.filter(isFar) + batch.counters.filter { !isFar($0) }
        try copy.record(batch)
    }

    private mutating func copyEvents(_ plugs: Numbered<PlugID>) throws(HistoryError) {
        var batch = HistoryBatch()
        batch.events = try readable("event", "plug, at, known, bytes", key: .event) { row in
            guard let plug = plugs[row.integer(0)], let content = try? StoredEvent.Content(decoding: row.bytes(3))
            else {
                return nil
            }
            return StoredEvent(plug: plug, content: content, at: row.integer(1), isTimeKnown: row.integer(2) != 0)
        }
        batch.firings = try readable("firing", "at, rule, plug, cause", key: .firing) { row in
            StoredFiring(
                at: row.integer(0), rule: row.text(1), plug: PlugID(rawValue: row.text(2)), cause: row.text(3))
        }
        // Databases of earlier versions have no table of traces.
        if try read({ try $0.tableExists("trace") }) {
            batch.traces = try readable("trace", "trace, at, rule, fired, json") { StoredTrace($0) }
        }
        try copy.record(batch)
    }

    private mutating func copyRollUps(_ plugs: Numbered<PlugID>) throws(HistoryError) {
        struct RollUpRow: Hashable {
            var plug: PlugID
            var step, block: Int64
            var bytes: [UInt8]
        }
        let cells = try readable("rollup", "plug, step, block, bytes") { row -> RollUpRow? in
            guard let plug = plugs[row.integer(0)], let step = RollUpStep(rawValue: Int(row.integer(1))),
                (try? RollUpBlock(step, decoding: row.bytes(3))) != nil
            else { return nil }
            return RollUpRow(plug: plug, step: row.integer(1), block: row.integer(2), bytes: row.bytes(3))
        }
        try copy.write { database in
            for cell in cells {
                guard let row = try database.row(of: cell.plug) else { continue }
                try database.change(
                    """
                    INSERT INTO rollup (plug, step, block, bytes) VALUES (?, ?, ?, ?)
                    ON CONFLICT (plug, step, block) DO UPDATE SET bytes = excluded.bytes
                    """, .integer(row), .integer(cell.step), .integer(cell.block),
                    .bytes(cell.bytes))
            }
        }
    }

    /// A boot of a plug, by the number of its row.
    private struct BootRow: Hashable {
        var boot: BootID
        /// The wall clock at the zero of the plug's clock; nil if it is unknown.
        var origin: Int64?
    }

    private mutating func boots() throws(HistoryError) -> Numbered<BootRow> {
        struct Row: Hashable {
            var number: Int64
            var row: BootRow
        }
        var boots = try readable("boot", "id, boot, origin") { row in
            BootID(bytes: row.bytes(1)).map { boot in
                Row(
                    number: row.integer(0), row: BootRow(boot: boot, origin: row.isNull(2) ? nil : row.integer(2)))
            }
        }
        try addLost("boot", columns: "nib??", to: &boots, number: \.number) { row, values in
            guard case .bytes(let bytes) = values[2], let boot = BootID(bytes: bytes) else { return nil }
            return Row(number: row, row: BootRow(boot: boot, origin: values[3].integer))
        }
        var found = Dictionary(boots.map { ($0.number, $0.row) }) { first, _ in first }
        let indexed = try indexed("boot", "plug, boot", by: "sqlite_autoindex_boot_1") { BootID(bytes: $0.bytes(1)) }
        for (row, boot) in indexed where found[row] == nil { found[row] = BootRow(boot: boot) }
        return Numbered(known: found, isComplete: isSound("boot")) { number in
            let digits = (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            return BootID(bytes: [UInt8](repeating: 0, count: 8) + digits).map { BootRow(boot: $0) }
        }
    }

    /// Adds the rows that the table lost, from pages of the file that contain rows with these column types. A page may
    /// be obsolete, so a row of the table has precedence over a row of a page with the same number.
    private func addLost<Row>(
        _ table: String, columns: String, to rows: inout [Row], number: (Row) -> Int64,
        _ row: (Int64, [SQLValue]) -> Row?
    ) throws(HistoryError) {
        guard !isSound(table) else { return }
        var known = Set(rows.map(number))
        do {
            try PageRecords(kind: .rows, columns: columns, count: columns.count).scan(path) { record in
                guard let id = record.row, !known.contains(id), let row = row(id, record.values) else { return }
                known.insert(id)
                rows.append(row)
            }
        } catch {
            throw HistoryError(any: error, path)
        }
    }

    private func isSound(_ table: String) -> Bool { !tables.contains { $0.table == table } }

    /// The plugs or boots by the numbers of their rows. If rows are lost, a number without a row gets an id that is
    /// made of the number, so that its samples are not lost.
    private struct Numbered<Value> {
        var known: [Int64: Value]
        var isComplete: Bool
        var make: (Int64) -> Value?

        /// The greatest accepted row number. A greater one is damaged.
        private static var greatest: Int64 { 1 << 32 }

        subscript(number: Int64) -> Value? {
            if let value = known[number] { return value }
            return isComplete || !(1...Self.greatest).contains(number) ? nil : make(number)
        }
    }

    /// Returns the values that an index has, keyed by row number; empty if the index is missing.
    private func indexed<Value>(
        _ table: String, _ columns: String, by index: String, _ value: (SQLRow) -> Value?
    ) throws(HistoryError) -> [Int64: Value] {
        try read { database in
            var values: [Int64: Value] = [:]
            let table = DamagedTable(database: database, name: table)
            func add(_ row: SQLRow) { if let value = value(row) { values[row.integer(row.columns - 1)] = value } }
            let keys = "SELECT \(columns), rowid FROM \(table.name) INDEXED BY \(index) ORDER BY "
            guard try table.has(DamagedTable.Index(name: index, columns: columns)) else { return values }
            if try !table.scan(keys + columns, add) { _ = try table.scan(keys + Self.falling(columns), add) }
            return values
        }
    }

    private static func falling(_ columns: String) -> String {
        columns.split(separator: ",").map { $0 + " DESC" }.joined(separator: ",")
    }

    /// The key of a table without row numbers.
    private struct TableKey {
        /// The columns, separated by commas.
        var names: String
        /// The integers with which the key begins, and the types of the row's columns as in ``PageRecords``.
        var integers: [String]
        var columns: String

        static let counter = TableKey(names: "plug, wall, boot", integers: ["plug", "wall", "boot"], columns: "iiiii")
        static let event = TableKey(names: "plug, sequence, bytes", integers: ["plug", "sequence"], columns: "iibii")
        static let firing = TableKey(names: "at, rule, plug, cause", integers: ["at"], columns: "ittt")
    }

    /// Returns the readable rows of a table, each row once. A table with row numbers is read row by row: a damaged page
    /// then loses only the rows that it contains. Any other table is read by its key, from both ends up to the damage,
    /// and then by a search for each key that a page of the file contains. Lost rows are added to `tables`.
    private mutating func readable<Value: Hashable>(
        _ name: String, _ columns: String, key: TableKey? = nil, _ value: (SQLRow) -> Value?
    ) throws(HistoryError) -> [Value] {
        let (values, loss) = try read { database in
            var values: [Value] = []
            var known: Set<Value> = []
            var loss = SalvageReport.TableLoss(table: name)
            func add(_ row: SQLRow) -> Bool {
                guard let value = value(row) else { return false }
                // A page that the tree reaches twice shows its rows twice.
                if known.insert(value).inserted { values.append(value) }
                return true
            }
            let table = DamagedTable(database: database, name: name)
            if try table.scan("SELECT \(columns) FROM \(name) NOT INDEXED", { if !add($0) { loss.rows += 1 } }) {
                return (values, loss)
            }
            loss.isCounted = false
            guard let key else {
                (values, known, loss.rows) = ([], [], 0)
                loss.rows = try table.read(columns, add).lost
                return (values, loss)
            }
            // This pass counts no row twice, because the previous pass ended at the damage.
            _ = try table.scan("SELECT \(columns) FROM \(name) ORDER BY \(Self.falling(key.names))") {
                if !add($0) { loss.rows += 1 }
            }
            let pages = PageRecords(kind: .keys, columns: key.columns, count: key.integers.count)
            let condition = key.integers.map { "\($0) = ?" }.joined(separator: " AND ")
            try pages.scan(path) { record in
                _ = try table.scan("SELECT \(columns) FROM \(name) WHERE \(condition)", values: record.values) {
                    _ = add($0)
                }
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
