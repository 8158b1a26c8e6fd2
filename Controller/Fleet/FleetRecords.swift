import JSONText
import PlugModel

/// A plug of one of many houses in the database. Names are untrusted.
public struct FleetPlug: Encodable, Hashable, Sendable {
    /// The name of the house.
    public var house: String
    /// The plug's id, twelve hexadecimal digits.
    public var id: String
    /// The plug's name, or its id if it has no name.
    public var plug: String
    /// The labels of the house.
    public var labels: [String: String]
    /// True if the house's daemon is connected to the plug and was active in the last two minutes.
    public var connected: Bool
    /// The time at which the plug was last known to be connected: ISO 8601, UTC; nil if unknown.
    public var lastSeen: String?
    /// True if the relay is on; nil if unknown.
    public var on: Bool?
    /// The level of a dimmer in percent.
    public var level: Double?
    /// Active power in W.
    public var activePower: Double?
    /// The energy counter in Wh.
    public var activeEnergy: Double?
    /// The protection that locked the plug's relay; nil if the relay is not locked or its state is unknown.
    public var tripped: String?
    /// The user's role in this house.
    public var role: String

    /// Reads a row of the query of plugs. Nil if its format is not valid, or if the user has no role in the house.
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
    /// The name of the house.
    public var house: String
    /// The labels of the house.
    public var labels: [String: String]
    /// The number of plugs.
    public var plugs: Int
    /// The number of connected plugs.
    public var connected: Int
    /// The number of plugs that are not connected.
    public var away: Int
    /// The number of plugs with a tripped protection.
    public var tripped: Int
    /// The total power of the house's connected plugs in W; nil if no connected plug has reported a power.
    public var activePower: Double?
    /// The energy of all plugs in Wh since the start of this month in the house's calendar; nil without data.
    public var energyThisMonth: Double?
    /// The time of the last contact with the house's daemon: ISO 8601, UTC; nil before the first contact.
    public var lastSeen: String?
    /// The user's role in this house.
    public var role: String

    /// Reads a row of the query of houses. Nil if its format is not valid, or if the user has no role in the house.
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

/// The energy of a house or one of its plugs in a month.
public struct FleetEnergy: Encodable, Hashable, Sendable {
    /// The month in the house's calendar, such as `2026-11`.
    public var month: String
    /// The name of the house.
    public var house: String
    /// The plug's id; nil for the whole house.
    public var id: String?
    /// The plug's name, or its id if it has no name; nil for the whole house.
    public var plug: String?
    /// The energy in Wh.
    public var activeEnergy: Double
    /// The part of the energy that was used in times without samples, in Wh.
    public var estimated: Double

    /// Reads a row of the query of energy. Nil if its format is not valid.
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

/// The rows of an answer.
public struct FleetList<Row: Sendable>: Sendable {
    /// The rows, at most as many as requested.
    public var rows: [Row]
    /// True if there are more rows than requested.
    public var isCut: Bool

    /// Converts the rows of an answer.
    ///
    /// - Parameters:
    ///   - query: the query of the answer.
    ///   - read: converts a row of the database; nil for invalid rows, which are omitted.
    public init(_ answer: [[String?]], to query: FleetQuery, _ read: ([String?]) -> Row?) {
        rows = answer.prefix(query.limit).compactMap(read)
        isCut = answer.count > query.limit
    }

    /// Creates a list.
    public init(rows: [Row], isCut: Bool = false) {
        self.rows = rows
        self.isCut = isCut
    }
}

enum FleetLabels {
    /// The maximum number of labels per house. It limits the size of a displayed object.
    private static let limit = 32

    /// Reads labels and ignores values that are not texts.
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
