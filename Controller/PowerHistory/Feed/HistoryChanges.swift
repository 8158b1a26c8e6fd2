public import Metering
public import PlugModel

/// Up to where somebody has a history: the number of a change, and who numbered it.
public struct FeedPosition: Hashable, Sendable {
    /// 16 bytes.
    public var epoch: [UInt8]
    /// 0 is before the first change.
    public var number: Int64

    public init(epoch: [UInt8], number: Int64) {
        self.epoch = epoch
        self.number = number
    }
}

/// A part of what changed in a history, as it is now: in one state of the database.
public struct HistoryChanges: Sendable {
    /// All changes up to this number are in this part or in earlier ones.
    public var through: Int64
    /// Nothing changed after it.
    public var isAll: Bool
    /// The names of plugs that are new or have another one.
    public var names: [PlugID: String] = [:]
    /// With samples, also chunks of later parts that reach into the same time. They come again there.
    public var chunks: [ChangedChunk] = []
    public var rollUps: [ChangedRollUps] = []
    public var events: [StoredEvent] = []
    public var counters: [CounterValue] = []
    /// Samples as a reader of the history finds them, in order, in the spans of the changed chunks and those that were asked for.
    public var samples: [PlugID: [TimedSample]] = [:]
    /// Samples before it were forgotten here: milliseconds since 1970.
    public var samplesFrom: [PlugID: Int64] = [:]

    init(through: Int64, isAll: Bool) {
        self.through = through
        self.isAll = isAll
    }
}

/// A chunk that is new, longer, or elsewhere on the wall clock.
public struct ChangedChunk: Hashable, Sendable {
    public var stored: StoredChunk
    /// CRC-32 of the chunk's bytes.
    public var checksum: UInt32
    /// No other chunk of the plug begins at the same time: of two that do, the shorter one is read first.
    public var beginsAlone: Bool

    /// Of its first sample, milliseconds since 1970.
    public var since: Int64 { stored.origin.addingClamped(stored.chunk.firstMilliseconds) }
    /// Of its last one, never before the first.
    public var until: Int64 { max(since, stored.origin.addingClamped(stored.chunk.lastMilliseconds)) }
}

/// The rows in the place of all that there were in a span.
public struct ChangedRollUps: Hashable, Sendable {
    public var plug: PlugID
    public var step: RollUpStep
    /// Milliseconds since 1970.
    public var span: Range<Int64>
    public var rows: [RollUpRow]
}

/// What a minute, quarter, hour or day was like.
public struct RollUpRow: Hashable, Sendable {
    /// Milliseconds since 1970.
    public var start: Int64
    public var coveredMilliseconds: Int64
    /// Watts; nil where there was no sample, and so below.
    public var mean: Double?
    public var least: Double?
    public var greatest: Double?
    /// What flowed: of minutes only what the samples show.
    public var wattHours: Double
    /// The part of it that belongs to time without samples.
    public var estimatedWattHours: Double

    init(_ start: Int64, _ entry: RollUpEntry, _ step: RollUpStep) {
        self.start = start
        coveredMilliseconds = entry.covered
        mean = entry.power.map { Double($0.mean) / 1000 }
        least = entry.power.map { Double($0.least) / 10 }
        greatest = entry.power.map { Double($0.greatest) / 10 }
        wattHours =
            step == .minute
            ? Double(entry.power?.mean ?? 0) * Double(entry.covered) / 3_600_000_000 : Double(entry.energy) / 1_000_000
        estimatedWattHours = Double(entry.estimated) / 1_000_000
    }
}

/// What a plug's energy counter said.
public struct CounterValue: Hashable, Sendable {
    public var plug: PlugID
    /// Milliseconds since 1970.
    public var at: Int64
    public var milliwattHours: Int64
}

public struct TimedSample: Hashable, Sendable {
    /// Milliseconds since 1970.
    public var at: Int64
    public var sample: Sample
}
