import GRDB
import Metering
import PlugModel

/// One transaction of ``PowerHistory/record(_:)``.
struct BatchTransaction {
    let database: Database
    /// Receives reports about data that is left out.
    let complain: (String) -> Void
    private var plugs: [PlugID: Int64] = [:]
    private var dirty: [Int64: DirtySpans] = [:]

    /// If a boot's origin changes by more than the sum of this number of milliseconds and the possible drift, the wall
    /// clock was set. The mapping of the two clocks is accurate to a second.
    static let clockTolerance: Int64 = 60_000
    /// The reciprocal of the greatest drift of a plug's clock: one part in 10,000.
    static let drift: Int64 = 10_000
    /// Times beyond this limit (142,000 years) are invalid. The limit prevents overflows of sums.
    static let timeLimit: Int64 = 1 << 52
    /// The longest span of a chunk in milliseconds. A longer one is invalid: no plug measures for more than a year
    /// without a new chunk.
    static let spanLimit: Int64 = 400 * 86_400_000

    init(_ database: Database, complain: @escaping (String) -> Void) {
        self.database = database
        self.complain = complain
    }

    mutating func store(_ batch: HistoryBatch) throws {
        for (plug, name) in batch.names {
            try database.change(
                "UPDATE plug SET name = ? WHERE id = ?", .text(name), .integer(try row(of: plug)))
        }
        for chunk in batch.chunks { try store(chunk) }
        for counter in batch.counters { try store(counter) }
        for span in batch.fetched { try store(span) }
        for event in batch.events { try store(event) }
        for firing in batch.firings {
            try database.change(
                "INSERT INTO firing (at, rule, plug, cause) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                .integer(firing.at), .text(firing.rule), .text(firing.plug?.rawValue ?? ""), .text(firing.cause))
        }
        for trace in batch.traces { try store(trace) }
        for (plug, spans) in dirty.sorted(by: { $0.key < $1.key }) {
            let rollUps = RollUps(database, plug: plug)
            try rollUps.recompute(spans.spans)
            try rollUps.flush()
        }
    }

    mutating func row(of plug: PlugID) throws -> Int64 {
        if let row = plugs[plug] { return row }
        let row = try database.row(of: plug) ?? database.insertPlug(plug)
        plugs[plug] = row
        return row
    }

    mutating func markDirty(_ plug: Int64, _ span: ClosedRange<Int64>) {
        dirty[plug, default: DirtySpans()].insert(span)
    }

    private mutating func store(_ stored: StoredChunk) throws {
        let chunk = stored.chunk
        let (first, last) = (chunk.firstMilliseconds, chunk.lastMilliseconds)
        guard [stored.origin, first, last].allSatisfy({ $0.magnitude <= Self.timeLimit }),
            last - first <= Self.spanLimit, (try? chunk.samples()) != nil
        else {
            return complain(
                """
                samples of \(stored.plug) are not plausible and are left out
                hint: no action is required; if this happens again, check the plug's log
                """)
        }
        let plug = try row(of: stored.plug)
        let horizon = try database.integer("SELECT samples_from FROM plug WHERE id = ?", .integer(plug))
        guard horizon.map({ stored.origin + last >= $0 }) ?? true else { return }
        let boot = try place(stored.boot, of: plug, origin: stored.origin, at: last)
        var known: (id: Int64, count: Int64, since: Int64, until: Int64)?
        try database.query(
            "SELECT id, count, since, until FROM chunk WHERE boot = ? AND first = ?", .integer(boot), .integer(first)
        ) { known = ($0.integer(0), $0.integer(1), $0.time(2), $0.time(3)) }
        // From now on, these samples determine the times of the counter readings in their span.
        let end = known.map { first + ($0.until - $0.since) }
        let clocks =
            (end.map { min($0, last) + RollUps.chunkReach } ?? first)...max(end ?? last, last) + RollUps.chunkReach
        let rollUps = RollUps(database, plug: plug)
        let before = try rollUps.counterTimes(ofBoot: boot, clocks: clocks)
        let sum = SQLValue.integer(Int64(Checksum.crc32(chunk.bytes)))
        let count = Int64(chunk.count)
        let since = known?.since ?? stored.origin + first
        let until = since + (last - first)
        if let known {
            guard known.count < count else { return }
            try database.change(
                "UPDATE chunk SET count = ?, until = ?, crc = ?, bytes = ? WHERE id = ?", .integer(count),
                .integer(until), sum, .bytes(chunk.bytes), .integer(known.id))
        } else {
            try database.change(
                """
                INSERT INTO chunk (plug, boot, first, count, since, until, crc, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """, .integer(plug), .integer(boot), .integer(first), .integer(count), .integer(since),
                .integer(until), sum, .bytes(chunk.bytes))
        }
        try database.change(
            "UPDATE plug SET longest = ?2 WHERE id = ?1 AND longest < ?2", .integer(plug), .integer(last - first))
        let reached = known?.until ?? since
        // Only a faulty plug sends a new version of a chunk with more samples and an earlier end. The roll-ups of the
        // removed end are then recomputed too.
        markDirty(plug, until < reached ? since...reached : max(since, reached)...until)
        for time in before + (try rollUps.counterTimes(ofBoot: boot, clocks: clocks)) { markDirty(plug, time...time) }
    }

    private mutating func store(_ reading: CounterReading) throws {
        guard reading.origin.magnitude <= Self.timeLimit, reading.milliseconds.magnitude <= Self.timeLimit,
            reading.milliwattHours <= UInt64(Self.timeLimit)
        else { return }
        let plug = try row(of: reading.plug)
        let boot = try place(reading.boot, of: plug, origin: reading.origin, at: reading.milliseconds)
        let wall = reading.origin + reading.milliseconds
        let rollUps = RollUps(database, plug: plug)
        let replaced = try database.integer(
            "SELECT clock FROM counter WHERE plug = ? AND wall = ? AND boot = ?", .integer(plug), .integer(wall),
            .integer(boot))
        var times = try replaced.map { try rollUps.counterTimes(ofBoot: boot, clocks: $0...$0) } ?? []
        try insertCounter(
            plug, boot, wall: wall, clock: reading.milliseconds, Int64(reading.milliwattHours))
        times += try rollUps.counterTimes(ofBoot: boot, clocks: reading.milliseconds...reading.milliseconds)
        for time in times { markDirty(plug, time...time) }
    }
}

extension Database {
    func row(of plug: PlugID) throws -> Int64? {
        try integer("SELECT id FROM plug WHERE plug = ?", .text(plug.rawValue))
    }

    fileprivate func insertPlug(_ plug: PlugID) throws -> Int64 {
        try change("INSERT INTO plug (plug) VALUES (?)", .text(plug.rawValue))
        return lastInsertedRowID
    }
}
