public import Metering

/// The current state of a plug: a line of `plugctl --json`, and an object of the daemon's API. Keys without a value are
/// omitted.
public struct PlugRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The plug's id, twelve hexadecimal digits; omitted for a plug that is not paired and was not connected since the
    /// start of the process.
    public var id: String?
    /// The connection: connected; away: the plug is known or paired but not reachable; stranger: the plug is present
    /// but not paired with this controller.
    public var state: String
    /// away, stranger: the reason in words.
    public var reason: String?
    /// away, stranger: when the connection ended, in ISO 8601, UTC; omitted for a plug that was not connected since the
    /// start of the process.
    public var since: String?
    /// The plug's capabilities in alphabetical order, such as button, meter and relay; omitted for a plug that was not
    /// connected since the start of the process.
    public var capabilities: [String]?
    /// The firmware version; omitted for a plug that was not connected since the start of the process.
    public var firmware: String?

    /// The room that an owner assigned in the dashboard; omitted without one.
    public var room: String?
    /// The plug's place in the order that an owner arranged in the dashboard, from 0; omitted without one. Plugs without
    /// a place follow by name.
    public var place: Int?

    /// True if the relay is on. This and the following keys require a connected plug.
    public var on: Bool?
    /// The level in percent.
    public var level: Double?
    /// The protection that keeps the relay open, as in ``WatchRecord/protection``.
    public var tripped: String?
    /// The latest reading.
    public var reading: ReadingRecord?
    /// The hosts that sleep, or have slept, at the plug's sleep proxy; omitted without such hosts.
    public var sleepers: [SleeperRecord]?

    /// Creates a record with only a name and a state.
    public init(plug: String, state: String) {
        self.plug = plug
        self.state = state
    }
}

/// One reading of a plug's meter.
public struct ReadingRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The time in ISO 8601, UTC, milliseconds.
    public var at: String
    /// Active power in W.
    public var activePower: Double
    /// RMS voltage in V.
    public var voltageRMS: Double?
    /// RMS current in A.
    public var currentRMS: Double?
    /// The energy counter in Wh.
    public var activeEnergy: Double
    /// Apparent power in VA. This and the following three values are omitted if the plug's meter does not measure them.
    public var apparentPower: Double?
    /// Reactive power in var.
    public var reactivePower: Double?
    /// The power factor, -1 to 1.
    public var powerFactor: Double?
    /// The mains frequency in Hz.
    public var frequency: Double?

    /// Creates the record of a reading at a time in ISO 8601.
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
