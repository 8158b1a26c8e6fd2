import GRDB
import Metering
public import PlugModel

extension PowerHistory {
    /// The maximum number of stored epochs. A receiver whose epoch was removed gets all changes again. The limit stops
    /// a daemon that restarts every minute from filling the disk.
    static let epochLimit: Int64 = 1000

    /// Starts a new epoch, in which all later changes are numbered. The first call also numbers all existing rows.
    ///
    /// - Parameter epoch: 16 random bytes, new for each call.
    public func beginFeed(_ epoch: [UInt8]) throws(HistoryError) {
        try mending { () throws(HistoryError) in
            try write { database in
                if try database.integer("SELECT 1 FROM feed") == nil { try FeedSchema.begin(database) }
                try database.change(
                    "INSERT INTO epoch (epoch, since) SELECT ?, last FROM feed WHERE true ON CONFLICT DO NOTHING",
                    .bytes(epoch))
                try database.change(
                    "DELETE FROM epoch WHERE id <= (SELECT max(id) FROM epoch) - ?", .integer(Self.epochLimit))
            }
        }
    }

    /// Returns the number of the last change that a receiver with this position has. Returns 0, so that the receiver
    /// gets all changes, if the position does not belong to this history.
    ///
    /// - Returns: nil if no feed was begun, or if a repair removed it.
    public func number(after position: FeedPosition?) throws(HistoryError) -> Int64? {
        try read { database -> Int64? in
            guard let last = try database.integer("SELECT last FROM feed") else { return nil }
            guard let position,
                let id = try database.integer("SELECT id FROM epoch WHERE epoch = ?", .bytes(position.epoch))
            else { return 0 }
            // A position with a greater number comes from a copy of this database that diverged from it.
            let end = try database.integer("SELECT min(since) FROM epoch WHERE id > ?", .integer(id)) ?? last
            return (0...end).contains(position.number) ? position.number : 0
        }
    }

    /// Returns true if a change has a number greater than `number`.
    public func hasChanges(after number: Int64) throws(HistoryError) -> Bool {
        try read { try $0.integer("SELECT 1 FROM change WHERE number > ? LIMIT 1", .integer(number)) != nil }
    }

    /// Returns changes with numbers greater than `number`, in ascending order.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of changes in the result.
    ///   - sampleLimit: No further change is added after this number of samples.
    ///   - wantsSamples: True if the result contains samples.
    ///   - spans: Additional spans whose samples are wanted, in milliseconds since 1970.
    public func changes(
        after number: Int64, atMost limit: Int, sampleLimit: Int, samples wantsSamples: Bool,
        besides spans: [PlugID: [ClosedRange<Int64>]] = [:]
    ) throws(HistoryError) -> HistoryChanges {
        var isDamaged = false
        let changes = try read { database -> HistoryChanges in
            var reading = FeedReading(database, after: number)
            try reading.read(atMost: limit, sampleLimit: sampleLimit)
            if wantsSamples { try reading.readSamples(besides: spans) }
            isDamaged = reading.foundDamage
            return reading.changes
        }
        if isDamaged { reportDamage() }
        return changes
    }
}

/// One transaction of ``PowerHistory/changes(after:atMost:sampleLimit:samples:besides:)``.
private struct FeedReading {
    private(set) var changes: HistoryChanges
    private(set) var foundDamage = false
    private let database: Database
    private let after: Int64
    private var plugs: [Int64: PlugID] = [:]

    private struct Change {
        var kind: FeedSchema.Kind?
        var plug, a, b, number: Int64
    }

    init(_ database: Database, after number: Int64) {
        (self.database, after) = (database, number)
        changes = HistoryChanges(through: number, isAll: true)
    }

    mutating func read(atMost limit: Int, sampleLimit: Int) throws {
        var all: [Change] = []
        try database.query(
            "SELECT kind, plug, a, b, number FROM change WHERE number > ? ORDER BY number LIMIT ?", .integer(after),
            .integer(Int64(limit) + 1)
        ) {
            all.append(
                Change(
                    kind: FeedSchema.Kind(rawValue: $0.integer(0)), plug: $0.integer(1), a: $0.integer(2),
                    b: $0.integer(3), number: $0.integer(4)))
        }
        var rows: [Int64: PlugID] = [:]
        try database.query("SELECT id, plug FROM plug") { rows[$0.integer(0)] = PlugID(rawValue: $0.text(1)) }
        plugs = rows
        var samples = 0
        for change in all.prefix(limit) where samples < sampleLimit {
            if let plug = plugs[change.plug] { samples += try read(change, of: plug) }
            changes.through = change.number
        }
        changes.isAll = all.last.map { $0.number == changes.through } ?? true
    }

    /// - Returns: The number of samples in the change.
    private mutating func read(_ change: Change, of plug: PlugID) throws -> Int {
        switch change.kind {
        case .plug:
            try database.query("SELECT name FROM plug WHERE id = ?", .integer(change.plug)) { [plug] in
                changes.names[plug] = $0.text(0)
            }
        case .chunk: return try readChunk(change.a, of: plug)
        case .rollUp: try readRollUps(change, of: plug)
        case .event:
            try database.query(
                "SELECT bytes, at, known FROM event WHERE plug = ? AND sequence = ?", .integer(change.plug),
                .integer(change.a)
            ) { row in
                guard let content = try? StoredEvent.Content(decoding: row.bytes(0)) else { return }
                changes.events.append(
                    StoredEvent(plug: plug, content: content, at: row.time(1), isTimeKnown: row.integer(2) != 0))
            }
        case .counters:
            let from = change.a.multipliedReportingOverflow(by: FeedSchema.counterHour).partialValue
            try database.query(
                "SELECT wall, milliwatt_hours FROM counter WHERE plug = ? AND wall BETWEEN ? AND ? ORDER BY wall",
                .integer(change.plug), .integer(from), .integer(from.addingClamped(FeedSchema.counterHour - 1))
            ) { changes.counters.append(CounterValue(plug: plug, at: $0.time(0), milliwattHours: $0.integer(1))) }
        case nil: break
        }
        return 0
    }

    private mutating func readChunk(_ id: Int64, of plug: PlugID) throws -> Int {
        guard let chunk = try database.chunk(id) else {
            let isThere = try database.integer("SELECT 1 FROM chunk WHERE id = ?", .integer(id)) != nil
            foundDamage = foundDamage || isThere
            return 0
        }
        var place: (since: Int64, boot: BootID?) = (0, nil)
        try database.query(
            "SELECT chunk.since, boot.boot FROM chunk JOIN boot ON boot.id = chunk.boot WHERE chunk.id = ?",
            .integer(id)
        ) { place = ($0.time(0), BootID(bytes: $0.bytes(1))) }
        guard let boot = place.boot else { return 0 }
        let other = try database.integer(
            "SELECT 1 FROM chunk WHERE plug = (SELECT plug FROM chunk WHERE id = ?1) AND since = ?2 AND id <> ?1 LIMIT 1",
            .integer(id), .integer(place.since))
        let origin = place.since.subtractingClamped(chunk.firstMilliseconds)
        changes.chunks.append(
            ChangedChunk(
                stored: StoredChunk(plug: plug, boot: boot, origin: origin, chunk: chunk),
                checksum: Checksum.crc32(chunk.bytes), beginsAlone: other == nil))
        return chunk.count
    }

    private mutating func readRollUps(_ change: Change, of plug: PlugID) throws {
        guard let step = RollUpStep(rawValue: Int(clamping: change.a)) else { return }
        let start = change.b.multipliedReportingOverflow(by: step.blockMilliseconds)
        guard !start.overflow else { return }
        var from = start.partialValue
        let to = from.addingClamped(step.blockMilliseconds)
        // The receiver keeps rows that were deleted here by age.
        if step == .minute,
            let horizon = try database.integer(
                "SELECT minutes_from FROM plug WHERE id = ? AND minutes_from IS NOT NULL", .integer(change.plug))
        {
            from = max(from, horizon)
        }
        guard from < to else { return }
        let rollUps = RollUps(database, plug: change.plug)
        var rows: [RollUpRow] = []
        try rollUps.each(step, from: from, to: to) { rows.append(RollUpRow($0, $1, step)) }
        foundDamage = foundDamage || rollUps.foundDamage
        changes.rollUps.append(ChangedRollUps(plug: plug, step: step, span: from..<to, rows: rows))
    }

    /// Adds the samples of the changed chunks and of the requested spans. Chunks of later changes that overlap these
    /// spans are added too, so that the receiver knows the chunk of each sample.
    mutating func readSamples(besides spans: [PlugID: [ClosedRange<Int64>]]) throws {
        var wanted = spans
        for chunk in changes.chunks { wanted[chunk.stored.plug, default: []].append(chunk.since...chunk.until) }
        for (row, plug) in plugs {
            guard let asked = wanted[plug] else { continue }
            changes.samplesFrom[plug] = try database.integer(
                "SELECT samples_from FROM plug WHERE id = ? AND samples_from IS NOT NULL", .integer(row))
            let spans = try reached(from: asked, by: plug, row)
            var found: [TimedSample] = []
            for span in spans {
                var last = Int64.min
                let damaged = try database.eachChunk(of: row, from: span.lowerBound, to: span.upperBound) {
                    samples, origin in
                    for sample in samples {
                        let at = sample.milliseconds &+ origin
                        guard at > last, span.contains(at) else { continue }
                        last = at
                        found.append(TimedSample(at: at, sample: sample))
                    }
                }
                foundDamage = foundDamage || !damaged.isEmpty
            }
            changes.samples[plug] = found
        }
    }

    /// Extends the spans by the chunks of later changes that overlap them, and adds those chunks to the changes.
    private mutating func reached(
        from asked: [ClosedRange<Int64>], by plug: PlugID, _ row: Int64
    ) throws -> [ClosedRange<Int64>] {
        var (spans, looked) = (asked.united, Set<Int64>())
        while true {
            var later: [Int64] = []
            for span in spans {
                for place in try database.chunkPlaces(of: row, from: span.lowerBound, to: span.upperBound)
                where looked.insert(place.id).inserted {
                    let number = try database.integer(
                        "SELECT number FROM change WHERE kind = ? AND plug = ? AND a = ? AND b = 0",
                        .integer(FeedSchema.Kind.chunk.rawValue), .integer(row), .integer(place.id))
                    if let number, number > changes.through { later.append(place.id) }
                }
            }
            guard !later.isEmpty else { return spans }
            let count = changes.chunks.count
            for id in later { _ = try readChunk(id, of: plug) }
            spans = (spans + changes.chunks[count...].map { $0.since...$0.until }).united
        }
    }
}

extension [ClosedRange<Int64>] {
    /// The union of the spans, sorted and disjoint.
    package var united: Self {
        var united: Self = []
        for span in sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = united.last, span.lowerBound <= last.upperBound.addingClamped(1) {
                united[united.count - 1] = last.lowerBound...Swift.max(last.upperBound, span.upperBound)
            } else {
                united.append(span)
            }
        }
        return united
    }
}
