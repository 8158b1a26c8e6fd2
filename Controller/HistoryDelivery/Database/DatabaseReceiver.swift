import JSONText
import LinuxSystem
import NIOPosix
import PlugModel
import PostgreSQL
import PowerHistory
import ProtocolCore
import Synchronization

/// Delivers the history to a PostgreSQL database.
///
/// The database stores the delivered position in the same transaction as the rows. Each row is therefore stored exactly
/// once, even after a crash, and a database that was restored from a backup reports correctly which rows it lacks.
final class DatabaseReceiver: HistoryReceiver {
    /// The house's name and identity in the database.
    struct House: Sendable {
        var name: String
        var identity: HouseIdentity
        var labels: [(key: String, value: String)]
        /// The time zone in the IANA database.
        var timeZone: String
    }

    /// The interval of updates that show that the daemon is running, if no state changes.
    private static let heartbeat = Duration.seconds(20)
    /// The interval between two calls that drop old partitions.
    private static let forgetting = Duration.seconds(3600)
    static let patience = Duration.seconds(60)

    let settings: PostgreSQLSettings
    let house: House
    let wantsSamples: Bool
    private let states: LiveStates
    private let thread = BlockingThread()
    private let connection = Mutex<PostgreSQLConnection?>(nil)
    private let hasEnded = Mutex(false)
    private let known = Mutex(Known())

    /// The content of the database, as read after connecting and changed by this connection since.
    struct Known {
        /// The id of the house's row.
        var house = 0
        /// The time zone in the database.
        var timeZone = "UTC"
        /// The ids of the plugs' rows.
        var plugs: [String: Int32] = [:]
        /// The first days of months with partitions.
        var months: Set<String> = []
        /// The time before which a table keeps no rows, in milliseconds since 1970.
        var horizons: [String: Int64] = [:]
        /// The last delivered position; nil if the whole history must be sent.
        var position: FeedPosition?
        fileprivate var told: Instant?
        fileprivate var forgotten: Instant?
    }

    init(_ settings: PostgreSQLSettings, house: House, samples: Bool, states: LiveStates) {
        (self.settings, self.house, self.states) = (settings, house, states)
        wantsSamples = samples
    }

    func connect() async throws(DeliveryFault) -> FeedPosition? {
        try await thread.run { () throws(DeliveryFault) in try self.connectNow() }
    }

    func idle(hasAll: Bool) async throws(DeliveryFault) {
        try await thread.run { () throws(DeliveryFault) in try self.idleNow(hasAll: hasAll) }
    }

    func deliver(
        from source: HistorySource, after position: FeedPosition, atMost limit: Int
    ) async throws(DeliveryFault) -> (through: Int64, isAll: Bool) {
        try await thread.run { () throws(DeliveryFault) in
            try self.deliverNow(from: source.history(), after: position, atMost: limit)
        }
    }

    func end() async {
        try? await thread.run { () throws(DeliveryFault) in self.endNow() }
        await thread.end()
    }

    func giveUp() {
        hasEnded.withLock { $0 = true }
        connection.withLock { $0 }?.giveUp()
    }

    private func connectNow() throws(DeliveryFault) -> FeedPosition? {
        let link = PostgreSQLConnection(patience: Self.patience)
        connection.withLock { $0 = link }
        if hasEnded.withLock({ $0 }) { link.giveUp() }
        do throws(PostgreSQLError) {
            try link.connect(settings)
            try prepare(link)
            let found = try claim(link)
            known.withLock { $0 = found }
            states.allChanged()
            return found.position
        } catch {
            throw DeliveryFault(error)
        }
    }

    private func endNow() {
        defer { connection.withLock { $0 = nil } }
        // After this receiver ends, no states are updated, so all plugs are marked as not connected.
        let house = known.withLock { $0.house }
        guard house > 0, let link = connection.withLock({ $0 }) else { return }
        _ = try? link.rows(
            "UPDATE smartplug.states SET connected = false FROM smartplug.plugs WHERE plugs.id = states.plug AND plugs.house = $1",
            ["\(house)"])
    }

    private func idleNow(hasAll: Bool) throws(DeliveryFault) {
        guard let link = connection.withLock({ $0 }) else { return }
        do throws(PostgreSQLError) {
            try tellStates(link, hasAll: hasAll)
            try forget(link)
        } catch {
            throw DeliveryFault(error)
        }
    }

    private func deliverNow(
        from history: PowerHistory, after position: FeedPosition, atMost limit: Int
    ) throws(DeliveryFault) -> (through: Int64, isAll: Bool) {
        guard let link = connection.withLock({ $0 }) else {
            throw DeliveryFault(reason: "not connected to the database")
        }
        var known = known.withLock { $0 }
        defer { self.known.withLock { $0 = known } }
        do {
            let part = try DatabasePart(
                of: history, after: position.number, atMost: limit, samples: wantsSamples, known: &known, link)
            try part.send(from: position, known: &known, link)
            try tellStates(link, hasAll: false, &known)
            return (part.changes.through, part.changes.isAll)
        } catch let error as PostgreSQLError {
            throw DeliveryFault(error)
        } catch let error as HistoryError {
            throw DeliveryFault(error)
        } catch let fault as DeliveryFault {
            throw fault
        } catch {
            throw DeliveryFault(reason: "\(error)")
        }
    }

    // MARK: Connecting

    /// Creates the schema if it is missing.
    private func prepare(_ link: PostgreSQLConnection) throws(PostgreSQLError) {
        // With these settings, the server detects a lost connection within about 30 s and releases the house's lock.
        try link.rows(
            """
            SET timezone = 'UTC'; SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4;
            SET tcp_user_timeout = '30s'
            """)
        let look = "SELECT to_regclass('smartplug.schema_version')"
        if try link.value(look) == nil {
            // If many houses start at the same time, only one creates the schema.
            try link.rows("BEGIN")
            try link.rows("SELECT pg_advisory_xact_lock(hashtext('smartplug schema'))")
            if try link.value(look) == nil { try link.rows(DatabaseSchema.text) }
            try link.rows("COMMIT")
        }
        let version = try link.value("SELECT version FROM smartplug.schema_version").flatMap { Int($0) }
        guard version == DatabaseSchema.version else {
            throw PostgreSQLError(
                "its schema has version \(version ?? 0), but this plugctl uses version \(DatabaseSchema.version)",
                state: "0A000")
        }
        try link.rows(DatabasePart.stage)
    }

    /// Creates or finds the house's row, and prevents other connections from using this house at the same time.
    private func claim(_ link: PostgreSQLConnection) throws(PostgreSQLError) -> Known {
        var labels = JSONObject()
        for (key, value) in house.labels { labels.add(key, value) }
        let zones = try link.rows("SELECT name FROM pg_timezone_names WHERE name = $1", [house.timeZone])
        let zone = zones.isEmpty ? "UTC" : house.timeZone
        try link.rows(
            """
            INSERT INTO smartplug.houses (name, identity, labels, time_zone, sampled) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (name) DO NOTHING
            """, [house.name, house.identity.text, labels.text, zone, "\(wantsSamples)"])
        let rows = try link.rows(
            "SELECT id, identity, time_zone, sampled, replace(epoch::text, '-', ''), cursor FROM smartplug.houses WHERE name = $1",
            [house.name])
        guard let row = rows.first, row.count == 6, let id = row[0].flatMap({ Int($0) }) else {
            throw PostgreSQLError("the row of the house \(house.name) is not visible")
        }
        guard row[1] == house.identity.text else {
            throw PostgreSQLError(Self.otherDaemon(house.name), state: Self.refused)
        }
        guard try link.value("SELECT pg_try_advisory_lock(hashtext('smartplug house'), $1)", [row[0]]) == "t" else {
            throw PostgreSQLError("another connection uses the house name \(house.name)", state: "55P03")
        }
        var known = Known(house: id, timeZone: zone)
        for plug in try link.rows("SELECT plug, id FROM smartplug.plugs WHERE house = $1", ["\(id)"]) {
            if let name = plug[0], let row = plug[1].flatMap({ Int32($0) }) { known.plugs[name] = row }
        }
        known.horizons = try Self.horizons(link)
        // Days begin at other times in the new zone, so energy per day is recomputed from the quarters.
        if row[2] != zone { try link.rows(DatabasePart.daysAnew(house: id, zone: zone)) }
        // If the setting for sample rows changed, the whole history is sent again. Existing rows remain.
        let isSame = row[3] == (wantsSamples ? "t" : "f")
        if isSame, let epoch = row[4].flatMap({ [UInt8](hexadecimal: $0[...]) }),
            let number = row[5].flatMap({ Int64($0) })
        {
            known.position = FeedPosition(epoch: epoch, number: number)
        }
        try link.rows(
            """
            UPDATE smartplug.houses SET labels = $2, time_zone = $3, sampled = $4, epoch = CASE WHEN sampled = $4 THEN epoch END
            WHERE id = $1
            """, ["\(id)", labels.text, zone, "\(wantsSamples)"])
        return known
    }

    /// A SQLSTATE of this program, for errors that only the user can resolve.
    static let refused = "SP001"

    private static func otherDaemon(_ name: String) -> String {
        "the house \(name) belongs to a different daemon in this database"
    }

    // MARK: Periodic work

    private func tellStates(_ link: PostgreSQLConnection, hasAll: Bool) throws(PostgreSQLError) {
        var known = known.withLock { $0 }
        defer { self.known.withLock { $0 = known } }
        try tellStates(link, hasAll: hasAll, &known)
    }

    private func tellStates(_ link: PostgreSQLConnection, hasAll: Bool, _ known: inout Known) throws(PostgreSQLError) {
        let changed = states.takeChanged()
        let now = BootClock.now
        let isDue = known.told.map { now - $0 >= Self.heartbeat } ?? true
        guard isDue || !changed.isEmpty else { return }
        try link.rows("BEGIN")
        if !changed.isEmpty {
            let text = "[" + changed.map { JSONObject($0.value, of: $0.key).databaseText }.joined(separator: ",") + "]"
            for row in try link.rows(Self.plugs, [text, "\(known.house)"]) {
                if let plug = row[0], let id = row[1].flatMap({ Int32($0) }) { known.plugs[plug] = id }
            }
            try link.rows(Self.newStates, [text, "\(known.house)"])
        }
        let caughtUp = hasAll ? ", caught_up = now()" : ""
        try link.rows("UPDATE smartplug.houses SET last_seen = now()\(caughtUp) WHERE id = $1", ["\(known.house)"])
        try link.rows("COMMIT")
        known.told = now
    }

    private static let columns = """
        json_to_recordset($1::json) AS told (plug text, name text, firmware text, connected boolean, seen timestamptz, relay boolean,
            level real, power real, energy double precision, voltage real, current real, tripped text)
        """
    private static let plugs = """
        INSERT INTO smartplug.plugs (house, plug, name, firmware) SELECT $2::integer, plug, name, firmware FROM \(DatabaseReceiver.columns)
        ON CONFLICT (house, plug) DO UPDATE SET name = excluded.name, firmware = excluded.firmware
        WHERE (plugs.name, plugs.firmware) IS DISTINCT FROM (excluded.name, excluded.firmware) RETURNING plug, id
        """
    private static let newStates = """
        INSERT INTO smartplug.states (plug, connected, last_seen, relay, level, active_power, active_energy, voltage, current, tripped)
        SELECT plugs.id, connected, seen, relay, level, power, energy, voltage, current, tripped
        FROM \(DatabaseReceiver.columns) JOIN smartplug.plugs ON plugs.house = $2::integer AND plugs.plug = told.plug
        ON CONFLICT (plug) DO UPDATE SET connected = excluded.connected, last_seen = excluded.last_seen, relay = excluded.relay,
            level = excluded.level, active_power = excluded.active_power, active_energy = excluded.active_energy,
            voltage = excluded.voltage, current = excluded.current, tripped = excluded.tripped
        """

    private func forget(_ link: PostgreSQLConnection) throws(PostgreSQLError) {
        let last = known.withLock { $0.forgotten }
        guard last.map({ BootClock.now - $0 >= Self.forgetting }) ?? true else { return }
        known.withLock { $0.forgotten = BootClock.now }
        let horizons = try Self.horizons(link)
        known.withLock { $0.horizons = horizons }
        do throws(PostgreSQLError) {
            try link.rows("SELECT smartplug.forget()")
        } catch {
            // Another client is reading a partition, so nothing was dropped. The next call tries again.
            guard error.state == "55P03" else { throw error }
        }
    }
}

extension DatabaseReceiver {
    /// Returns the times before which tables keep no rows, in milliseconds since 1970.
    private static func horizons(_ link: PostgreSQLConnection) throws(PostgreSQLError) -> [String: Int64] {
        var horizons: [String: Int64] = [:]
        for row in try link.rows(
            "SELECT relation, (extract(epoch FROM smartplug.horizon(relation)) * 1000)::bigint FROM smartplug.retention"
        ) {
            if let relation = row[0], let time = row[1].flatMap({ Int64($0) }) { horizons[relation] = time }
        }
        return horizons
    }
}

extension JSONObject {
    fileprivate init(_ state: LiveStates.State, of plug: PlugID) {
        self.init()
        add("plug", plug.rawValue)
        add("name", state.name)
        add("firmware", state.firmware)
        add("connected", state.isConnected)
        add("seen", state.seen.iso8601())
        guard let now = state.plug else { return }
        add("relay", now.relayOn)
        if let level = now.level { add("level", level.percent) }
        if let tripped = now.tripped { add("tripped", tripped.rawValue) }
        guard let reading = now.reading else { return }
        add("power", reading.activePower)
        add("energy", reading.activeEnergy)
        if let voltage = reading.voltageRMS { add("voltage", voltage) }
        if let current = reading.currentRMS { add("current", current) }
    }
}

extension DeliveryFault {
    init(_ error: PostgreSQLError) {
        let isOther = error.state == DatabaseReceiver.refused
        self.init(
            reason: error.description,
            hint: isOther
                ? "rename this house in history.toml; if it replaces the other one, copy the other's file house-identity"
                : error.hint,
            isRefusal: isOther || ["0A000", "28P01", "28000", "42501", "3D000"].contains(error.state))
    }
}
