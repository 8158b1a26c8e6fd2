import GRDB
import Metering
import PlugProtocol

extension PowerHistory {
    /// Rows copied in one transaction.
    private static let rowsAPiece = 200

    /// Copies what is readable into a new history in another directory, and makes the roll-ups of its samples anew. Those of
    /// samples that were forgotten or cannot be read are copied as they are.
    ///
    /// - Parameters:
    ///   - directory: where there is none yet.
    ///   - progress: takes how many of how many rows were looked at.
    /// - Returns: how many chunks of samples were lost.
    @discardableResult
    public func repair(
        into directory: String, progress: (_ done: Int64, _ of: Int64) -> Void = { _, _ in }
    ) throws(HistoryError) -> Int {
        let copy = try PowerHistory(directory, role: .recorder, retention: .forever)
        guard try copy.plugs().isEmpty else {
            throw HistoryError(.database(code: 0, message: "there is a history in it already"), directory)
        }
        let plugs = try readable("plug", "id, plug, name, samples_from, minutes_from") { row in
            PlugID(rawValue: row.text(1)).map { (row.integer(0), $0, row.text(2)) }
        }
        let rows = Dictionary(plugs.map { ($0.0, $0.1) }) { first, _ in first }
        var batch = HistoryBatch()
        for (_, plug, name) in plugs { batch.names[plug] = name }
        try copy.record(batch)
        try copyRollUps(into: copy, rows)
        try copyReadings(into: copy, rows)
        let lost = try copyChunks(into: copy, rows, progress)
        try copyEvents(into: copy, rows)
        return lost
    }

    private func copyChunks(
        into copy: PowerHistory, _ plugs: [Int64: PlugID], _ progress: (Int64, Int64) -> Void
    ) throws(HistoryError) -> Int {
        let boots = try boots()
        let last = try read { try? $0.integer("SELECT max(id) FROM chunk") } ?? 0
        var (lost, id, batch) = (0, Int64(1), HistoryBatch())
        while id <= last {
            let row = try read { database -> (plug: Int64, boot: Int64, since: Int64, chunk: SampleChunk?)? in
                var row: (plug: Int64, boot: Int64, since: Int64, chunk: SampleChunk?)?
                do {
                    try database.query("SELECT plug, boot, since FROM chunk WHERE id = ?", .integer(id)) {
                        row = ($0.integer(0), $0.integer(1), $0.integer(2), nil)
                    }
                    row?.chunk = try database.chunk(id)
                } catch let error as DatabaseError where error.isDamage {
                    row = (0, 0, 0, nil)
                }
                return row
            }
            if let row {
                if let chunk = row.chunk, let plug = plugs[row.plug], let boot = boots[row.boot] {
                    let origin = row.since - chunk.firstMilliseconds
                    batch.chunks.append(StoredChunk(plug: plug, boot: boot, origin: origin, chunk: chunk))
                } else {
                    lost += 1
                }
            }
            if batch.chunks.count == Self.rowsAPiece || id == last {
                try copy.record(batch)
                batch = HistoryBatch()
                progress(id, last)
            }
            id += 1
        }
        return lost
    }

    private func copyReadings(into copy: PowerHistory, _ plugs: [Int64: PlugID]) throws(HistoryError) {
        let boots = try boots()
        var batch = HistoryBatch()
        batch.counters = try readable("counter", "plug, boot, wall, clock, milliwatt_hours", key: nil) { row in
            guard let plug = plugs[row.integer(0)], let boot = boots[row.integer(1)] else { return nil }
            return CounterReading(
                plug: plug, boot: boot, origin: row.integer(2) - row.integer(3), milliseconds: row.integer(3),
                milliwattHours: UInt64(bitPattern: row.integer(4)))
        }
        try copy.record(batch)
    }

    private func copyEvents(into copy: PowerHistory, _ plugs: [Int64: PlugID]) throws(HistoryError) {
        var batch = HistoryBatch()
        batch.events = try readable("event", "plug, at, known, bytes", key: nil) { row in
            guard let plug = plugs[row.integer(0)], let content = try? StoredEvent.Content(decoding: row.bytes(3))
            else {
                return nil
            }
            return StoredEvent(plug: plug, content: content, at: row.integer(1), isTimeKnown: row.integer(2) != 0)
        }
        batch.firings = try readable("firing", "at, rule, plug, cause", key: nil) { row in
            StoredFiring(
                at: row.integer(0), rule: row.text(1), plug: PlugID(rawValue: row.text(2)), cause: row.text(3))
        }
        try copy.record(batch)
    }

    private func copyRollUps(into copy: PowerHistory, _ plugs: [Int64: PlugID]) throws(HistoryError) {
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
                    "INSERT INTO rollup (plug, step, block, bytes) VALUES (?, ?, ?, ?)", .integer(row),
                    .integer(step), .integer(block), .bytes(bytes))
            }
        }
    }

    private func boots() throws(HistoryError) -> [Int64: BootID] {
        let boots = try readable("boot", "id, boot") { row in BootID(bytes: row.bytes(1)).map { (row.integer(0), $0) } }
        return Dictionary(boots) { first, _ in first }
    }

    /// What can be read of a table: row by row where there are numbers of rows, so that a damaged page costs only what stands
    /// on it; else up to the first damage.
    private func readable<Value>(
        _ table: String, _ columns: String, key: String? = "rowid", _ value: (SQLRow) -> Value?
    ) throws(HistoryError) -> [Value] {
        try read { database in
            var values: [Value] = []
            func take(_ row: SQLRow) { if let value = value(row) { values.append(value) } }
            do {
                try database.query("SELECT \(columns) FROM \(table)", row: take)
                return values
            } catch let error as DatabaseError where error.isDamage {
                guard let key else { return values }
                values = []
                let last = (try? database.integer("SELECT max(\(key)) FROM \(table)")) ?? 0
                for id in stride(from: 1, through: last, by: 1) {
                    try? database.query("SELECT \(columns) FROM \(table) WHERE \(key) = ?", .integer(id), row: take)
                }
                return values
            }
        }
    }
}
