import JSONText

/// A statement for the database. User input is never part of its text, only of its values.
public struct FleetQuery: Hashable, Sendable {
    /// The text of the statement.
    public let sql: String
    /// The values for `$1`, `$2` ...; nil for null.
    public let values: [String?]
    /// The requested number of rows. The statement requests one more row. If the answer contains it, there are more
    /// rows than requested.
    public let limit: Int

    /// The limit of rows per answer.
    public static let largestLimit = 100_000

    private init(_ sql: String, _ values: [String?], limit: Int) {
        self.sql = sql
        self.values = values
        self.limit = limit
    }

    // Texts from other programs are cut when they are read. A valid plug name has at most 63 bytes, and a valid house
    // name at most 100.
    private static let allowed = """
        (house = ANY ($1::text[]) OR EXISTS (SELECT FROM unnest($2::text[]) AS beginning WHERE starts_with(house, beginning)))
        AND ($3::text[] IS NULL OR house = ANY ($3))
        """
    private static let labelled = "AND ($4::jsonb IS NULL OR labels @> $4)"
    private static let labelText = "CASE WHEN octet_length(labels::text) <= 8192 THEN labels::text END"
    private static func time(_ column: String) -> String {
        "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    }

    /// Returns the values for `$1` to `$4`.
    private static func common(_ filter: FleetFilter, _ rights: FleetRights) -> [String?] {
        let seen = rights.seen
        return [
            array(seen.names), array(seen.beginnings), filter.houses.isEmpty ? nil : array(filter.houses),
            labels(filter.labels),
        ]
    }

    /// Returns the query for plugs, sorted by house and name.
    public static func plugs(_ filter: FleetFilter, for rights: FleetRights, limit: Int) -> FleetQuery {
        let limit = clamp(limit)
        return FleetQuery(
            """
            SELECT left(house, 100), \(labelText), plug, left(name, 200), connected, \(time("last_seen")), relay, level, active_power,
                active_energy, left(tripped, 40)
            FROM smartplug.live
            WHERE \(allowed) \(labelled)
            AND ($5::text IS NULL OR position(lower($5) IN lower(name)) > 0 OR plug = lower($5))
            AND ($6::text[] IS NULL OR lower(name) IN (SELECT lower(wanted) FROM unnest($6) AS wanted)
                OR plug IN (SELECT lower(wanted) FROM unnest($6) AS wanted))
            AND ($7 = 'all' OR $7 = 'away' AND NOT connected OR $7 = 'tripped' AND tripped IS NOT NULL)
            ORDER BY house, name, plug LIMIT $8::integer
            """,
            common(filter, rights) + [
                filter.search, filter.plugs.isEmpty ? nil : array(filter.plugs), filter.condition.rawValue,
                "\(limit + 1)",
            ], limit: limit)
    }

    /// Returns the query for houses, sorted by name, with sums of their plugs and the energy of this month.
    public static func houses(_ filter: FleetFilter, for rights: FleetRights, limit: Int) -> FleetQuery {
        let limit = clamp(limit)
        return FleetQuery(
            """
            WITH chosen AS (
                SELECT name AS house, labels, time_zone, last_seen FROM
                    (SELECT *, name AS house FROM smartplug.houses) AS every
                WHERE \(allowed) \(labelled)
                AND ($5::text IS NULL OR position(lower($5) IN lower(house)) > 0)
                ORDER BY name LIMIT $6::integer),
            months AS (
                SELECT chosen.house, sum(energy) AS energy
                FROM chosen JOIN smartplug.energy_days ON energy_days.house = chosen.house
                WHERE day >= (now() - interval '33 days')::date AND day >= date_trunc('month', now() AT TIME ZONE time_zone)::date
                GROUP BY chosen.house)
            SELECT left(chosen.house, 100), \(labelText.replacingLabels), count(plug), count(plug) FILTER (WHERE connected),
                count(tripped), sum(active_power) FILTER (WHERE connected), min(months.energy), \(time("min(chosen.last_seen)"))
            FROM chosen LEFT JOIN smartplug.live ON live.house = chosen.house LEFT JOIN months ON months.house = chosen.house
            GROUP BY chosen.house, chosen.labels ORDER BY chosen.house
            """, common(filter, rights) + [filter.search, "\(limit + 1)"], limit: limit)
    }

    /// Returns the query for energy by house and month, or by plug and month.
    ///
    /// - Parameter months: the first and the last month.
    public static func energy(
        _ filter: FleetFilter, of months: ClosedRange<FleetMonth>, byPlug: Bool, for rights: FleetRights, limit: Int
    ) -> FleetQuery {
        let limit = clamp(limit)
        let plug = byPlug ? "plug, left(name, 200)" : "NULL, NULL"
        return FleetQuery(
            """
            SELECT to_char(date_trunc('month', day), 'YYYY-MM'), left(house, 100), \(plug), sum(energy), sum(estimated)
            FROM smartplug.energy_days
            WHERE \(allowed)
            AND ($4::jsonb IS NULL OR house IN (SELECT name FROM smartplug.houses WHERE labels @> $4))
            AND day >= $5::date AND day < $6::date
            AND ($7::text[] IS NULL OR lower(name) IN (SELECT lower(wanted) FROM unnest($7) AS wanted)
                OR plug IN (SELECT lower(wanted) FROM unnest($7) AS wanted))
            GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 4, 3 LIMIT $8::integer
            """,
            common(filter, rights) + [
                months.lowerBound.firstDay, months.upperBound.next.firstDay,
                filter.plugs.isEmpty ? nil : array(filter.plugs), "\(limit + 1)",
            ], limit: limit)
    }

    private static func clamp(_ limit: Int) -> Int { min(max(limit, 1), largestLimit) }

    /// Returns a `text[]` in PostgreSQL's syntax.
    static func array(_ texts: [String]) -> String {
        "{"
            + texts.map { text in
                var quoted = "\""
                for scalar in text.unicodeScalars {
                    if scalar == "\"" || scalar == "\\" { quoted += "\\" }
                    quoted.unicodeScalars.append(scalar)
                }
                return quoted + "\""
            }.joined(separator: ",") + "}"
    }

    private static func labels(_ labels: [FleetLabel]) -> String? {
        guard !labels.isEmpty else { return nil }
        var object = JSONObject()
        for label in labels { object.add(label.key, label.value) }
        return object.text
    }
}

extension String {
    /// The text with `chosen.` before each `labels`, since two tables in the query of houses have that column.
    fileprivate var replacingLabels: String { replacing("labels", with: "chosen.labels") }
}
