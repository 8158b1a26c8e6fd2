public import Metering

/// A plug as it is now: what `plugctl --json` prints a line of, and what the daemon's API tells. A key without a value is
/// left out.
public struct PlugRecord: Codable, Hashable, Sendable {
    /// Its name.
    public var plug: String
    /// Twelve hexadecimal digits; left out of a plug that was never met.
    public var id: String?
    /// connected; away: it was there, or is paired, and is not reached; stranger: it is there, and one of both does not know
    /// the other.
    public var state: String
    /// away, stranger: why, in words.
    public var reason: String?
    /// relay, dimmer, meter, button, ... in alphabetical order; left out of a plug that was never met.
    public var capabilities: [String]?
    public var firmware: String?

    /// What follows is of a connected plug.
    public var on: Bool?
    /// Per cent.
    public var level: Double?
    /// The protection that keeps the relay open, as in ``WatchRecord/protection``.
    public var tripped: String?
    /// Its newest reading.
    public var reading: ReadingRecord?

    public init(plug: String, state: String) {
        self.plug = plug
        self.state = state
    }
}

/// One reading of a plug's meter.
public struct ReadingRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// ISO 8601, UTC, milliseconds.
    public var at: String
    /// W, V, A, Wh.
    public var activePower: Double
    public var voltageRMS: Double?
    public var currentRMS: Double?
    public var activeEnergy: Double
    /// VA, var, -1 to 1, Hz; left out where the plug's meter measures none of it.
    public var apparentPower: Double?
    public var reactivePower: Double?
    public var powerFactor: Double?
    public var frequency: Double?

    public init(plug: String, at: String, _ reading: Reading) {
        self.plug = plug
        self.at = at
        activePower = reading.activePower
        voltageRMS = reading.voltageRMS
        currentRMS = reading.currentRMS
        activeEnergy = reading.activeEnergy
        apparentPower = reading.alternating?.apparentPower
        reactivePower = reading.alternating?.reactivePower
        powerFactor = reading.alternating?.powerFactor
        frequency = reading.alternating?.frequency
    }
}
