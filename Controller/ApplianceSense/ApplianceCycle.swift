/// One use of an appliance, from its first activity to its last. Times are milliseconds of the clock that the samples carry.
public struct ApplianceCycle: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable, Codable {
        /// Of a washing machine, a dishwasher, a dryer: a programme that ends by itself.
        case programme
        /// Of a refrigerator or another thermostat: one run of many alike.
        case compressor
        /// A run of a refrigerator's plug that draws far more than its compressor: the heater that melts the ice.
        case defrost
    }

    public var kind: Kind
    public var start: Int64
    /// The last activity; nil for a cycle that is still running where the samples end.
    public var end: Int64?
    /// When ``ApplianceSense`` said that it was finished; nil where it has not.
    public var said: Int64?
    /// From start to the last activity, between samples at most 30 s apart.
    public var milliwattHours: Int64
    /// How much of the cycle was measured; the rest is holes.
    public var coveredMilliseconds: Int64
    public var peakDeciwatts: Int32
    /// In the order of time, at most 64. Empty for other kinds than a programme.
    public var phases: [AppliancePhase]
}

/// A stretch of a programme in which the appliance does one thing.
public struct AppliancePhase: Sendable, Hashable {
    public enum Name: String, Sendable, Hashable, Codable {
        /// A heater is on: at least 800 W in the mean of half a minute.
        case heating
        /// A motor turns for some seconds and rests, again and again.
        case tumbling
        /// After tumbling, a motor that turns without rest.
        case spinning
        /// A motor or pump that runs steadily, before any tumbling.
        case running
        /// At least two minutes below 10 W with more to come: laundry soaks, dishes dry. Known only afterwards.
        case soak
        /// After the heat or the last spin: short or weak turns now and then, so that the laundry does not crease.
        case antiCrease = "anti-crease"
    }

    public var name: Name
    public var start: Int64
    /// Where the next begins.
    public var end: Int64

    public init(name: Name, start: Int64, end: Int64) {
        self.name = name
        self.start = start
        self.end = end
    }
}

/// What ``ApplianceSense`` says. Each is said once, at the sample that made it certain.
public enum ApplianceEvent: Sendable, Hashable {
    /// A cycle is certain: a programme when it has lasted 20 minutes and drawn 300 W, a known compressor after a minute.
    case started(ApplianceCycle.Kind, start: Int64)
    case phase(AppliancePhase.Name, start: Int64)
    /// The cycle that was said to be finished goes on: it, or another right after it, began at most 20 minutes later. The
    /// cycle is finished once more at its new end, and the pause is remembered.
    case resumed(end: Int64, at: Int64)
    case finished(ApplianceCycle)
}
