/// One use of an appliance, from its first activity to its last. Times are milliseconds on the clock of the samples.
public struct ApplianceCycle: Sendable, Hashable {
    /// The kind of the cycle.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// A washing machine, dishwasher or dryer: a programme that ends by itself.
        case programme
        /// One of many similar runs of a refrigerator or another appliance with a thermostat.
        case compressor
        /// A run on a refrigerator's plug with more than 1.6 times the power of its compressor: the heater that melts
        /// the ice.
        case defrost
    }

    /// The kind of the cycle.
    public var kind: Kind
    /// The time of the first activity.
    public var start: Int64
    /// The time of the last activity; nil for a cycle that is still running at the end of the samples.
    public var end: Int64?
    /// The time at which ``ApplianceSense`` reported the end; nil if it has not.
    public var said: Int64?
    /// The energy from the start to the last activity, without gaps of more than 30 s between samples.
    public var milliwattHours: Int64
    /// The measured part of the cycle in milliseconds, without gaps.
    public var coveredMilliseconds: Int64
    /// The greatest power in tenths of a watt.
    public var peakDeciwatts: Int32
    /// The phases in chronological order, at most 64. Empty for kinds other than ``Kind/programme``.
    public var phases: [AppliancePhase]
}

/// A part of a programme in which the appliance does one thing.
public struct AppliancePhase: Sendable, Hashable {
    /// The activity of the appliance.
    public enum Name: String, Sendable, Hashable, Codable {
        /// A heater is on: a mean of at least 800 W in half a minute.
        case heating
        /// A motor alternates between some seconds of turning and a rest.
        case tumbling
        /// After tumbling: a motor that turns continuously.
        case spinning
        /// A motor or pump that runs steadily, before any tumbling or with less than a third of the tumbling's peak
        /// power.
        case running
        /// At least two minutes without activity, followed by more activity: laundry soaks, dishes dry. Reported when
        /// the activity resumes.
        case soak
        /// A motor turns from time to time, so that laundry does not crease: after heating, with long rests between the
        /// turns; or after spinning, with less power than tumbling.
        case antiCrease = "anti-crease"
    }

    /// The activity of the appliance.
    public var name: Name
    /// The start in milliseconds.
    public var start: Int64
    /// The start of the next phase, or the end of the cycle.
    public var end: Int64

    /// Creates a phase.
    public init(name: Name, start: Int64, end: Int64) {
        self.name = name
        self.start = start
        self.end = end
    }
}

/// An event of ``ApplianceSense``. Each is reported once, at the sample that makes it certain.
public enum ApplianceEvent: Sendable, Hashable {
    /// A cycle is certain. A programme is certain after 20 minutes, if its power was at least 300 W for 10 s in total,
    /// or at all if a drum turns (800 W for 60 s on the plug of a known compressor). A run of a known compressor is certain after one minute.
    case started(ApplianceCycle.Kind, start: Int64)
    /// A new phase of the running programme.
    case phase(AppliancePhase.Name, start: Int64)
    /// The appliance was active again at `at`, within 20 minutes after the reported `end` of its cycle. The cycle
    /// continues and finishes again at its new end, and the profile learns the pause.
    case resumed(end: Int64, at: Int64)
    /// The cycle is probably over: the appliance has turned itself off, or the rest is longer than usual pauses.
    /// Reported once per rest, before ``finished(_:)`` or together with it. If the cycle continues, nothing is reported.
    case probablyFinished(ApplianceCycle)
    /// The cycle is certainly over.
    case finished(ApplianceCycle)
}
