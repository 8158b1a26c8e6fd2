import JSONText
import LinuxSystem
import PlugModel
import PlugTopics
import PostgreSQL
import PowerHistory

/// A part of the changes in a history, and its delivery to a database. The part first queries the database's current
/// content, and is then sent in one transaction.
struct DatabasePart {
    /// The limit of samples after which a part includes no further change: some seconds of work, and 10 MB.
    private static let sampleLimit = 400_000
    /// The range of times that are sent, in milliseconds since 1970: from 1700 to 2200. Other times come from damage or
    /// from clocks that were never set.
    static let times: ClosedRange<Int64> = -8_520_336_000_000...7_258_118_400_000

    /// Temporary tables of the connection, for data that is compared with existing rows.
    static let stage = """
        CREATE TEMPORARY TABLE staged_powers (
            step integer, start timestamptz, plug integer, covered integer, mean real, least real, greatest real,
            energy double precision, estimated double precision) ON COMMIT DELETE ROWS;
        CREATE TEMPORARY TABLE staged_events (
            at timestamptz, plug integer, sequence bigint, detail jsonb, time_known boolean) ON COMMIT DELETE ROWS
        """

    let changes: HistoryChanges
    private let rewrite: SampleRewrite
    private let wantsSamples: Bool

    /// Reads the part, and queries the database's rows of its chunks.
    init(
        of history: PowerHistory, after number: Int64, atMost limit: Int, samples wantsSamples: Bool,
        known: inout DatabaseReceiver.Known, _ link: PostgreSQLConnection
    ) throws {
        func read(besides spans: [PlugID: [ClosedRange<Int64>]] = [:]) throws -> HistoryChanges {
            try history.changes(
                after: number, atMost: limit, sampleLimit: Self.sampleLimit, samples: wantsSamples, besides: spans)
        }
        self.wantsSamples = wantsSamples
        var (changes, found) = (try read(), [KnownChunk?]())
        var besides: [PlugID: [ClosedRange<Int64>]] = [:]
        while true {
            try Self.addPlugs(changes, house: known.house, &known.plugs, link)
            found = try Self.knownChunks(changes.chunks, known.plugs, link)
            let elsewhere = SampleRewrite.elsewhere(changes, known: found)
            guard wantsSamples, elsewhere != besides else { break }
            // The part is read again, since all data must come from one state of the history.
            besides = elsewhere
            changes = try read(besides: besides)
        }
        // Samples that the database dropped are not sent again.
        let from = max(Self.times.lowerBound, known.horizons["samples"] ?? .min)
        rewrite = SampleRewrite(changes, known: found, times: from...Self.times.upperBound)
        self.changes = changes
        try makePartitions(&known, link)
    }

    private static func addPlugs(
        _ changes: HistoryChanges, house: Int, _ plugs: inout [String: Int32], _ link: PostgreSQLConnection
    ) throws(PostgreSQLError) {
        var names = changes.names.mapValues { Optional($0) }
        let all =
            changes.chunks.map(\.stored.plug) + changes.rollUps.map(\.plug) + changes.events.map(\.plug)
        for plug in all where plugs[plug.rawValue] == nil && names[plug] == nil { names[plug] = .some(nil) }
        guard !names.isEmpty else { return }
        let text = names.map { plug, name -> String in
            var row = JSONObject()
            row.add("plug", plug.rawValue)
            if let name { row.add("name", name) }
            return row.databaseText
        }
        let rows = try link.rows(
            """
            INSERT INTO smartplug.plugs (house, plug, name)
            SELECT $2::integer, plug, coalesce(name, '') FROM json_to_recordset($1::json) AS told (plug text, name text)
            ON CONFLICT (house, plug) DO UPDATE SET name = CASE excluded.name WHEN '' THEN plugs.name ELSE excluded.name END
            RETURNING plug, id
            """, ["[" + text.joined(separator: ",") + "]", "\(house)"])
        for row in rows {
            if let plug = row[0], let id = row[1].flatMap({ Int32($0) }) { plugs[plug] = id }
        }
    }

    /// Returns the database's row of each chunk, in the same order; nil for a chunk without a row.
    private static func knownChunks(
        _ chunks: [ChangedChunk], _ plugs: [String: Int32], _ link: PostgreSQLConnection
    ) throws(PostgreSQLError) -> [KnownChunk?] {
        var known = [KnownChunk?](repeating: nil, count: chunks.count)
        guard !chunks.isEmpty else { return known }
        let wanted = chunks.enumerated().map { place, chunk in
            "(\(place),\(plugs[chunk.stored.plug.rawValue] ?? 0),'\(chunk.stored.boot.hexadecimal)'::bytea,"
                + "\(chunk.stored.chunk.firstMilliseconds)::bigint)"
        }
        let rows = try link.rows(
            """
            SELECT place, (extract(epoch FROM since) * 1000)::bigint, (extract(epoch FROM until) * 1000)::bigint, rows, digest
            FROM (VALUES \(wanted.joined(separator: ","))) AS wanted (place, plug, boot, first)
                JOIN smartplug.chunks USING (plug, boot, first)
            """)
        for row in rows {
            let numbers = row.map { $0.flatMap { Int64($0) } ?? 0 }
            guard numbers.count == 5, known.indices.contains(Int(clamping: numbers[0])) else { continue }
            known[Int(numbers[0])] = KnownChunk(
                since: numbers[1], until: numbers[2], rows: Int(clamping: numbers[3]), digest: numbers[4])
        }
        return known
    }

    // MARK: Partitions

    private func makePartitions(_ known: inout DatabaseReceiver.Known, _ link: PostgreSQLConnection)
        throws(PostgreSQLError)
    {
        var months: Set<String> = []
        func add(_ time: Int64) {
            if Self.times.contains(time) { months.insert("\(Self.literal(time).dropFirst().prefix(7))-01") }
        }
        for chunk in changes.chunks { add(chunk.since) }
        for samples in changes.samples.values {
            // The samples are in order, so one time per day suffices to find all months.
            var last: Int64?
            for sample in samples where last.map({ sample.at / 86_400_000 != $0 }) ?? true {
                last = sample.at / 86_400_000
                add(sample.at)
            }
        }
        for part in changes.rollUps {
            for row in part.rows where part.step != .minute || row.start % 3_600_000 == 0 { add(row.start) }
            if let first = part.rows.first { add(first.start) }
        }
        for event in changes.events { add(event.at) }
        // The next month's partition is created in advance: later, a long-running query of the table could block the
        // creation.
        add(WallTime.now.nanosecondsSince1970 / 1_000_000 + 31 * 86_400_000)
        let missing = months.subtracting(known.months)
        guard !missing.isEmpty else { return }
        try link.rows(
            "SELECT smartplug.make_partitions($1::date[])", ["{" + missing.sorted().joined(separator: ",") + "}"])
        known.months.formUnion(missing)
    }

    // MARK: Sending

    /// Sends the part in one transaction.
    ///
    /// - Parameter position: the position after which this part's changes begin, with the current epoch.
    /// - Throws: `DeliveryFault` if another connection changed the position, or `PostgreSQLError`.
    func send(
        from position: FeedPosition, known: inout DatabaseReceiver.Known, _ link: PostgreSQLConnection
    ) throws {
        try link.rows("BEGIN")
        let now = try link.rows(
            "SELECT replace(epoch::text, '-', ''), cursor FROM smartplug.houses WHERE id = $1 FOR UPDATE",
            ["\(known.house)"])
        let before = known.position
        guard now.first?[0] == before?.epoch.hexadecimal, before == nil || now.first?[1] == "\(before?.number ?? 0)"
        else {
            throw DeliveryFault(reason: "another daemon has sent this house's history meanwhile")
        }
        try sendChunks(known, link)
        try sendSamples(known.plugs, link)
        try sendRollUps(known, link)
        try sendEvents(known, link)
        try link.rows(
            "UPDATE smartplug.houses SET epoch = $2, cursor = $3 WHERE id = $1",
            ["\(known.house)", HouseIdentity.uuid(position.epoch), "\(changes.through)"])
        try link.rows("COMMIT")
        known.position = FeedPosition(epoch: position.epoch, number: changes.through)
    }

    private func sendChunks(_ known: DatabaseReceiver.Known, _ link: PostgreSQLConnection) throws(PostgreSQLError) {
        var rows = BinaryRows()
        var old: [String] = []
        let horizon = known.horizons["chunks"] ?? Self.times.lowerBound
        for (chunk, spans, before) in rewrite.chunks
        where Self.times.contains(chunk.since) && Self.times.contains(chunk.until) {
            guard let plug = known.plugs[chunk.stored.plug.rawValue], chunk.since >= horizon else { continue }
            let place =
                "plug = \(plug) AND boot = '\(chunk.stored.boot.hexadecimal)' AND first = \(chunk.stored.chunk.firstMilliseconds)"
            if let before {
                old.append("DELETE FROM smartplug.chunks WHERE \(place) AND since = \(Self.literal(before.since))")
            }
            rows.begin(columns: 10)
            rows.add(plug)
            rows.add(chunk.stored.boot.bytes)
            rows.add(chunk.stored.chunk.firstMilliseconds)
            rows.add(time: chunk.since)
            rows.add(time: chunk.until)
            rows.add(Int32(clamping: chunk.stored.chunk.count))
            rows.add(Int64(chunk.checksum))
            rows.add(Int32(clamping: wantsSamples ? spans.rows : 0))
            rows.add(spans.digest)
            rows.add(chunk.stored.chunk.bytes)
        }
        if !old.isEmpty { try link.rows(old.joined(separator: ";")) }
        try link.copy(
            rows, into: "smartplug.chunks", "plug, boot, first, since, until, count, crc, rows, digest, bytes")
    }

    private func sendSamples(_ plugs: [String: Int32], _ link: PostgreSQLConnection) throws(PostgreSQLError) {
        guard wantsSamples else { return }
        var deletions: [String] = []
        var rows = BinaryRows(capacity: rewrite.count * 48)
        for (plug, spans) in rewrite.spans {
            guard let row = plugs[plug.rawValue] else { continue }
            for span in spans {
                let range = "\(Self.literal(span.lowerBound)) AND \(Self.literal(span.upperBound))"
                deletions.append("DELETE FROM smartplug.samples WHERE plug = \(row) AND at BETWEEN \(range)")
            }
            rewrite.eachSample(of: plug) { sample in
                rows.begin(columns: 5)
                rows.add(time: sample.at)
                rows.add(row)
                rows.add(Float(sample.sample.activePower))
                rows.add(sample.sample.voltageRMS.map { Float($0) })
                rows.add(sample.sample.currentRMS.map { Float($0) })
            }
        }
        if !deletions.isEmpty { try link.rows(deletions.joined(separator: ";")) }
        try link.copy(rows, into: "smartplug.samples", "at, plug, active_power, voltage, current")
    }

    private func sendRollUps(_ known: DatabaseReceiver.Known, _ link: PostgreSQLConnection) throws(PostgreSQLError) {
        var rows = BinaryRows()
        var statements: [String] = []
        var steps: Set<RollUpStep> = []
        var days: [Int32: [ClosedRange<Int64>]] = [:]
        for part in changes.rollUps {
            guard let plug = known.plugs[part.plug.rawValue] else { continue }
            let horizon = known.horizons[part.step.table] ?? Self.times.lowerBound
            let span = max(part.span.lowerBound, horizon)..<max(part.span.upperBound, horizon)
            guard !span.isEmpty, Self.times.contains(span.lowerBound), Self.times.contains(span.upperBound) else {
                continue
            }
            steps.insert(part.step)
            var next = span.lowerBound
            // Deletes rows that the history no longer has.
            func clear(to end: Int64) {
                guard next < end else { return }
                statements.append(
                    "DELETE FROM smartplug.\(part.step.table) WHERE plug = \(plug) AND start >= \(Self.literal(next)) "
                        + "AND start < \(Self.literal(end))")
            }
            for row in part.rows where row.start >= span.lowerBound {
                clear(to: row.start)
                next = row.start + part.step.milliseconds
                rows.begin(columns: 9)
                rows.add(Int32(part.step.rawValue))
                rows.add(time: row.start)
                rows.add(plug)
                rows.add(Int32(clamping: row.coveredMilliseconds))
                rows.add(row.mean.map { Float($0) })
                rows.add(row.least.map { Float($0) })
                rows.add(row.greatest.map { Float($0) })
                rows.add(row.wattHours)
                rows.add(row.estimatedWattHours)
            }
            clear(to: span.upperBound)
            guard part.step == .quarter else { continue }
            // The first day is left out if some of its quarters were dropped, since its sum would be incomplete.
            let begin = span.lowerBound == horizon ? horizon + 86_400_000 : span.lowerBound
            if begin < span.upperBound { days[plug, default: []].append(begin...span.upperBound - 1) }
        }
        try link.copy(
            rows, into: "staged_powers", "step, start, plug, covered, mean, least, greatest, energy, estimated")
        for step in steps.sorted(by: { $0.rawValue < $1.rawValue }) { statements.append(step.upsert) }
        for (plug, spans) in days {
            for span in spans.united { statements += Self.days(of: plug, in: span, zone: known.timeZone) }
        }
        if !statements.isEmpty { try link.rows(statements.joined(separator: ";")) }
    }

    private func sendEvents(_ known: DatabaseReceiver.Known, _ link: PostgreSQLConnection) throws(PostgreSQLError) {
        var rows = BinaryRows()
        let horizon = known.horizons["events"] ?? Self.times.lowerBound
        for event in changes.events where Self.times.contains(event.at) && event.at >= horizon {
            guard let plug = known.plugs[event.plug.rawValue] else { continue }
            let at = WallTime(milliseconds: event.at).iso8601()
            let (sequence, detail) =
                switch event.content {
                case .event(let told): (told.sequence, JSONObject(told, of: event.plug, at: at, age: nil))
                case .gap(let gap): (gap.from, JSONObject(gap, of: event.plug, at: at))
                }
            rows.begin(columns: 5)
            rows.add(time: event.at)
            rows.add(plug)
            rows.add(Int64(bitPattern: sequence))
            rows.add(json: detail.databaseText)
            rows.add(event.isTimeKnown)
        }
        guard rows.count > 0 else { return }
        try link.copy(rows, into: "staged_events", "at, plug, sequence, detail, time_known")
        try link.rows(
            """
            INSERT INTO smartplug.events (at, plug, sequence, kind, detail, time_known)
            SELECT at, plug, sequence, detail->>'event', detail, time_known FROM staged_events ON CONFLICT DO NOTHING
            """)
    }

    // MARK: Statements

    /// Returns a time as a constant, so that the database can determine its partition.
    ///
    /// - Parameter milliseconds: one of ``times``.
    static func literal(_ milliseconds: Int64) -> String { "'\(WallTime(milliseconds: milliseconds).iso8601())'" }

    /// Returns the statements that recompute a plug's energy per day in this range of milliseconds.
    private static func days(of plug: Int32, in span: ClosedRange<Int64>, zone: String) -> [String] {
        let day = { (time: Int64) in "(\(literal(time))::timestamptz AT TIME ZONE '\(zone)')::date" }
        let (first, last) = (day(span.lowerBound), day(span.upperBound))
        return [
            "DELETE FROM smartplug.energy WHERE plug = \(plug) AND day BETWEEN \(first) AND \(last)",
            """
            INSERT INTO smartplug.energy (plug, day, energy, estimated, covered)
            SELECT plug, (start AT TIME ZONE '\(zone)')::date, sum(energy), sum(estimated), sum(covered) FROM smartplug.quarters
            WHERE plug = \(plug) AND start >= (\(first)::timestamp AT TIME ZONE '\(zone)')
                AND start < ((\(last) + 1)::timestamp AT TIME ZONE '\(zone)') GROUP BY 1, 2
            """,
        ]
    }

    /// Returns the statements that recompute a house's energy per day. Days before a plug's first stored quarter are
    /// unchanged.
    static func daysAnew(house: Int, zone: String) -> String {
        """
        CREATE TEMPORARY TABLE anew AS
            SELECT quarters.plug, (start AT TIME ZONE '\(zone)')::date AS day, sum(energy) AS energy, sum(estimated) AS estimated,
                sum(covered) AS covered
            FROM smartplug.quarters JOIN smartplug.plugs ON plugs.id = quarters.plug WHERE plugs.house = \(house) GROUP BY 1, 2;
        DELETE FROM smartplug.energy USING smartplug.plugs
            WHERE plugs.id = energy.plug AND plugs.house = \(house) AND day >= (SELECT min(anew.day) FROM anew WHERE anew.plug = energy.plug);
        INSERT INTO smartplug.energy (plug, day, energy, estimated, covered) SELECT * FROM anew ON CONFLICT DO NOTHING;
        DROP TABLE anew
        """
    }
}

extension RollUpStep {
    /// The name of the step's table.
    fileprivate var table: String {
        switch self {
        case .minute: "minutes"
        case .quarter: "quarters"
        case .hour: "hours"
        case .day: "days"
        }
    }

    /// Returns a statement that writes only rows that differ.
    fileprivate var upsert: String {
        let values = ["covered", "mean", "least", "greatest", "energy", "estimated"]
        let there = values.map { "\(table).\($0)" }.joined(separator: ", ")
        let new = values.map { "excluded.\($0)" }.joined(separator: ", ")
        return """
            INSERT INTO smartplug.\(table) (start, plug, \(values.joined(separator: ", ")))
            SELECT start, plug, \(values.joined(separator: ", ")) FROM staged_powers WHERE step = \(rawValue)
            ON CONFLICT (plug, start) DO UPDATE SET \(values.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
            WHERE (\(there)) IS DISTINCT FROM (\(new))
            """
    }
}

extension WallTime {
    /// - Parameter milliseconds: the time since 1970 within ``DatabasePart/times``.
    fileprivate init(milliseconds: Int64) { self.init(millisecondsSince1970: milliseconds) }
}

extension JSONObject {
    /// The JSON text without zero characters, which PostgreSQL texts cannot contain; spaces replace them.
    var databaseText: String { text.replacing("\\u0000", with: "\\u0020") }
}

extension BootID {
    fileprivate var hexadecimal: String { "\\x" + bytes.hexadecimal }
}

extension [UInt8] {
    var hexadecimal: String { flatMap { [$0 >> 4, $0 & 15] }.map { String($0, radix: 16) }.joined() }
}
