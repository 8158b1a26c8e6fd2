public import Metering
public import PlugModel

/// What arrived together and is stored together, or not at all.
public struct HistoryBatch: Sendable {
    /// The names that plugs bear now.
    public var names: [PlugID: String] = [:]
    public var chunks: [StoredChunk] = []
    public var fetched: [FetchedSpan] = []
    public var counters: [CounterReading] = []
    public var events: [StoredEvent] = []
    public var firings: [StoredFiring] = []
    public var traces: [StoredTrace] = []

    public init() {}

    /// What of another one is not in this; samples, which their plugs keep, are left out.
    mutating func unite(_ other: HistoryBatch) {
        names.merge(other.names) { $1 }
        counters += Set(other.counters).subtracting(counters)
        let (known, fired) = (Set(events), Set(firings))
        events += other.events.filter { !known.contains($0) }
        firings += other.firings.filter { !fired.contains($0) }
        // A later trace has the id of an earlier one, and stands behind it.
        let told = Set(traces)
        traces += other.traces.filter { !told.contains($0) }
    }
}

/// A chunk as the plug sent it.
public struct StoredChunk: Hashable, Sendable {
    public var plug: PlugID
    /// To which the chunk's times belong.
    public var boot: BootID
    /// What the wall clock showed when the plug's clock stood at zero: milliseconds since 1970.
    public var origin: Int64
    public var chunk: SampleChunk

    public init(plug: PlugID, boot: BootID, origin: Int64, chunk: SampleChunk) {
        self.plug = plug
        self.boot = boot
        self.origin = origin
        self.chunk = chunk
    }
}

/// Of this time everything was fetched that the plug had: nobody need ask again.
public struct FetchedSpan: Hashable, Sendable {
    public var plug: PlugID
    public var boot: BootID
    /// Milliseconds of the plug's clock, both included.
    public var span: ClosedRange<Int64>

    public init(plug: PlugID, boot: BootID, span: ClosedRange<Int64>) {
        self.plug = plug
        self.boot = boot
        self.span = span
    }
}

/// What the plug's energy counter said.
public struct CounterReading: Hashable, Sendable {
    public var plug: PlugID
    public var boot: BootID
    /// Milliseconds since 1970 at the plug's zero, as in ``StoredChunk``.
    public var origin: Int64
    /// Milliseconds of the plug's clock.
    public var milliseconds: Int64
    public var milliwattHours: UInt64

    public init(plug: PlugID, boot: BootID, origin: Int64, milliseconds: Int64, milliwattHours: UInt64) {
        self.plug = plug
        self.boot = boot
        self.origin = origin
        self.milliseconds = milliseconds
        self.milliwattHours = milliwattHours
    }
}

/// An entry of a plug's journal.
public struct StoredEvent: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case event(PlugEvent)
        case gap(Gap)
    }

    public var plug: PlugID
    public var content: Content
    /// Milliseconds since 1970.
    public var at: Int64
    /// False where nobody knows when it happened: then `at` is when it arrived.
    public var isTimeKnown: Bool

    public init(plug: PlugID, content: Content, at: Int64, isTimeKnown: Bool) {
        self.plug = plug
        self.content = content
        self.at = at
        self.isTimeKnown = isTimeKnown
    }
}

/// A rule did something.
public struct StoredFiring: Hashable, Sendable {
    /// Milliseconds since 1970.
    public var at: Int64
    public var rule: String
    /// The plug whose event or power fired it, where one did.
    public var plug: PlugID?
    /// Why, in words.
    public var cause: String

    public init(at: Int64, rule: String, plug: PlugID?, cause: String) {
        self.at = at
        self.rule = rule
        self.plug = plug
        self.cause = cause
    }
}

/// What became of an edge that met a rule, as whoever runs rules tells it. One of the same id takes the place of an earlier one.
public struct StoredTrace: Hashable, Sendable {
    /// Longer ones are left out: it stops a rule of a megabyte from filling the disk with each firing.
    public static let limit = 262_144

    public var id: String
    /// Milliseconds since 1970.
    public var at: Int64
    public var rule: String
    /// False for an edge that did nothing.
    public var isFiring: Bool
    public var json: String
    /// It lacks its beginning: one that is there already stays as it is, unless it lacks that too.
    public var isPart: Bool

    public init(id: String, at: Int64, rule: String, isFiring: Bool, json: String, isPart: Bool = false) {
        self.id = id
        self.at = at
        self.rule = rule
        self.isFiring = isFiring
        self.json = json
        self.isPart = isPart
    }
}
