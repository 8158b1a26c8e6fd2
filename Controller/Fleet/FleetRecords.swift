import JSONText
import PlugModel

/// A plug of one of many houses, as the database has it. Names are those that others wrote.
public struct FleetPlug: Encodable, Hashable, Sendable {
    public var house: String
    public var id: String
    /// What it is called, or its id where it has no name.
    public var plug: String
    /// Of the house.
    public var labels: [String: String]
    /// Whether its daemon reaches it, and was itself heard of in the last two minutes.
    public var connected: Bool
    /// When it was last heard of: ISO 8601, UTC.
    public var lastSeen: String?
    public var on: Bool?
    /// Per cent, of a dimmer.
    public var level: Double?
    /// W.
    public var activePower: Double?
    /// Its counter, Wh.
    public var activeEnergy: Double?
    /// The protection that locked its relay.
    public var tripped: String?
    /// Of the person who asks, in this house.
    public var role: String

    /// Nil for a row that is not as the view has it.
    public init?(_ row: [String?], for rights: FleetRights) {
        guard row.count == 11, let house = row[0], let plug = row[2].flatMap(PlugID.init(rawValue:)),
            let role = rights.role(in: house)
        else { return nil }
        self.house = house
        id = plug.rawValue
        self.role = role.rawValue
        labels = FleetLabels.read(row[1])
        self.plug = row[3].flatMap { $0.isEmpty ? nil : $0 } ?? plug.rawValue
        connected = row[4] == "t"
        lastSeen = row[5]
        on = row[6].map { $0 == "t" }
        level = finite(row[7])
        activePower = finite(row[8])
        activeEnergy = finite(row[9])
        tripped = row[10]
    }
}

/// One of many houses, with sums of its plugs.
public struct FleetHouse: Encodable, Hashable, Sendable {
    public var house: String
    public var labels: [String: String]
    public var plugs: Int
    public var connected: Int
    public var away: Int
    public var tripped: Int
    /// W, of its connected plugs; nil where none of them measures.
    public var activePower: Double?
    /// Wh, since this month began in the house.
    public var energyThisMonth: Double?
    /// When its daemon was last heard of: ISO 8601, UTC.
    public var lastSeen: String?
    public var role: String

    /// Nil for a row that is not as it was asked for.
    public init?(_ row: [String?], for rights: FleetRights) {
        guard row.count == 8, let house = row[0], let plugs = row[2].flatMap({ Int($0) }),
            let connected = row[3].flatMap({ Int($0) }), let tripped = row[4].flatMap({ Int($0) }),
            let role = rights.role(in: house)
        else { return nil }
        self.house = house
        self.role = role.rawValue
        labels = FleetLabels.read(row[1])
        self.plugs = plugs
        self.connected = connected
        away = max(0, plugs.subtractingReportingOverflow(connected).partialValue)
        self.tripped = tripped
        activePower = finite(row[5])
        energyThisMonth = finite(row[6])
        lastSeen = row[7]
    }
}

/// What a house, or a plug of it, used in a month.
public struct FleetEnergy: Encodable, Hashable, Sendable {
    /// `2026-11`, of the house's calendar.
    public var month: String
    public var house: String
    /// Both nil where it is the whole house.
    public var id: String?
    public var plug: String?
    /// Wh.
    public var activeEnergy: Double
    /// Wh: the part of it in times without samples.
    public var estimated: Double

    public init?(_ row: [String?]) {
        guard row.count == 6, let month = row[0].flatMap({ FleetMonth($0) }), let house = row[1],
            let energy = finite(row[4])
        else { return nil }
        self.month = "\(month)"
        self.house = house
        id = row[2]
        plug = row[3].flatMap { $0.isEmpty ? nil : $0 } ?? row[2]
        activeEnergy = energy
        estimated = finite(row[5]) ?? 0
    }
}

/// Rows of an answer, and whether there were more than were wanted.
public struct FleetList<Row: Sendable>: Sendable {
    public var rows: [Row]
    public var isCut: Bool

    /// - Parameters:
    ///   - query: what was asked.
    ///   - read: makes a row of the database's; nil for one that is not as it was asked for, which is left out.
    public init(_ answer: [[String?]], to query: FleetQuery, _ read: ([String?]) -> Row?) {
        rows = answer.prefix(query.limit).compactMap(read)
        isCut = answer.count > query.limit
    }

    public init(rows: [Row], isCut: Bool = false) {
        self.rows = rows
        self.isCut = isCut
    }
}

enum FleetLabels {
    /// Labels that are read of a house. It stops an object with thousands of keys from being shown.
    private static let limit = 32

    /// What is no text is left out.
    static func read(_ json: String?) -> [String: String] {
        guard let json else { return [:] }
        let labels = try? JSONReader.read(Array(json.utf8)) { reader throws(JSONError) in
            var labels: [String: String] = [:]
            try reader.object { key, reader throws(JSONError) in
                guard reader.next() == UInt8(ascii: "\""), labels.count < limit else { return try reader.skip() }
                labels[key] = try reader.text()
            }
            return labels
        }
        return labels ?? [:]
    }
}

private func finite(_ text: String?) -> Double? {
    text.flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
}
