public import Metering
public import PlugModel

/// Data that arrived together. It is stored in one transaction.
public struct HistoryBatch: Sendable {
    /// The current names of plugs.
    public var names: [PlugID: String] = [:]
    /// Chunks of samples.
    public var chunks: [StoredChunk] = []
    /// Spans of plug time that need not be fetched again.
    public var fetched: [FetchedSpan] = []
    /// Readings of energy counters.
    public var counters: [CounterReading] = []
    /// Events and gaps of the plugs' journals.
    public var events: [StoredEvent] = []
    /// Firings of rules.
    public var firings: [StoredFiring] = []
    /// Traces of rules. A later trace in the array replaces an earlier one with the same id.
    public var traces: [StoredTrace] = []

    /// Creates an empty batch.
    public init() {}

    /// Adds the entries of another batch that this batch does not contain. Samples and fetched spans are not added,
    /// because the plugs still store the samples.
    mutating func unite(_ other: HistoryBatch) {
        names.merge(other.names) { $1 }
        counters += Set(other.counters).subtracting(counters)
        let (known, fired) = (Set(events), Set(firings))
        events += other.events.filter { !known.contains($0) }
        firings += other.firings.filter { !fired.contains($0) }
        // If two traces have the same id, the later one comes second and wins.
        let told = Set(traces)
        traces += other.traces.filter { !told.contains($0) }
    }
}

/// A chunk of samples as the plug sent it.
public struct StoredChunk: Hashable, Sendable {
    /// The owner of the samples.
    public var plug: PlugID
    /// The boot whose clock the chunk uses.
    public var boot: BootID
    /// The wall clock at the zero of the plug's clock, in milliseconds since 1970.
    public var origin: Int64
    /// The samples. Their times are milliseconds of the plug's clock.
    public var chunk: SampleChunk

    /// Creates a chunk of a plug.
    public init(plug: PlugID, boot: BootID, origin: Int64, chunk: SampleChunk) {
        self.plug = plug
        self.boot = boot
        self.origin = origin
        self.chunk = chunk
    }
}

/// A span of plug time whose samples were all fetched. It is not requested again.
public struct FetchedSpan: Hashable, Sendable {
    /// The plug from which the span was fetched.
    public var plug: PlugID
    /// The boot whose clock the span uses.
    public var boot: BootID
    /// Milliseconds of the plug's clock, both ends included.
    public var span: ClosedRange<Int64>

    /// Creates a fetched span of a plug.
    public init(plug: PlugID, boot: BootID, span: ClosedRange<Int64>) {
        self.plug = plug
        self.boot = boot
        self.span = span
    }
}

/// A reading of a plug's energy counter.
public struct CounterReading: Hashable, Sendable {
    /// The owner of the counter.
    public var plug: PlugID
    /// The boot whose clock `milliseconds` uses.
    public var boot: BootID
    /// The wall clock at the zero of the plug's clock, in milliseconds since 1970, as in ``StoredChunk``.
    public var origin: Int64
    /// The time of the reading, in milliseconds of the plug's clock.
    public var milliseconds: Int64
    /// The energy that the counter showed.
    public var milliwattHours: UInt64

    /// Creates a reading of a plug's counter.
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
    /// The content of a journal entry: an event, or a gap in the sequence of events.
    public enum Content: Hashable, Sendable {
        case event(PlugEvent)
        case gap(Gap)
    }

    /// The owner of the journal.
    public var plug: PlugID
    /// The event or gap.
    public var content: Content
    /// Milliseconds since 1970.
    public var at: Int64
    /// False if the time of the event is unknown. `at` is then the time of arrival.
    public var isTimeKnown: Bool

    /// Creates an entry.
    public init(plug: PlugID, content: Content, at: Int64, isTimeKnown: Bool) {
        self.plug = plug
        self.content = content
        self.at = at
        self.isTimeKnown = isTimeKnown
    }
}

/// One firing of a rule.
public struct StoredFiring: Hashable, Sendable {
    /// Milliseconds since 1970.
    public var at: Int64
    /// The rule's name.
    public var rule: String
    /// The plug whose event or power fired the rule; nil if no plug did.
    public var plug: PlugID?
    /// The reason as text.
    public var cause: String

    /// Creates a firing.
    public init(at: Int64, rule: String, plug: PlugID?, cause: String) {
        self.at = at
        self.rule = rule
        self.plug = plug
        self.cause = cause
    }
}

/// The outcome of one edge, which is a change that matched a trigger of a rule. A newer trace replaces an older one
/// with the same id.
public struct StoredTrace: Hashable, Sendable {
    /// The maximum number of UTF-8 bytes of `json`. Longer traces are not stored: this stops a rule with a megabyte of
    /// text from filling the disk with each firing.
    public static let limit = 262_144

    /// The id of the firing or edge. All versions of a trace have the same id.
    public var id: String
    /// Milliseconds since 1970.
    public var at: Int64
    /// The rule's name.
    public var rule: String
    /// True if the rule fired; false if the edge was held back or was a near miss.
    public var isFiring: Bool
    /// The trace as JSON. A trace with more than ``limit`` bytes is not stored.
    public var json: String
    /// True if the beginning of the trace is missing. Such a trace replaces a stored one only if the beginning of the
    /// stored one is missing too.
    public var isPart: Bool

    /// Creates a trace.
    public init(id: String, at: Int64, rule: String, isFiring: Bool, json: String, isPart: Bool = false) {
        self.id = id
        self.at = at
        self.rule = rule
        self.isFiring = isFiring
        self.json = json
        self.isPart = isPart
    }
}
