public import Metering
public import PlugModel

/// The position of a receiver in the feed: the number of a change, and the epoch that numbered it.
public struct FeedPosition: Hashable, Sendable {
    /// The epoch, 16 bytes.
    public var epoch: [UInt8]
    /// The last change that the receiver has; 0 is before the first change.
    public var number: Int64

    /// Creates a position.
    public init(epoch: [UInt8], number: Int64) {
        self.epoch = epoch
        self.number = number
    }
}

/// A part of the changes of a history. All content is read from one state of the database, so it may already include
/// later changes.
public struct HistoryChanges: Sendable {
    /// The greatest number in this part. All changes up to it are in this part or in earlier ones.
    public var through: Int64
    /// True if this part ends with the newest change.
    public var isAll: Bool
    /// The names of plugs that are new or renamed.
    public var names: [PlugID: String] = [:]
    /// The changed chunks. If samples are requested, chunks of later changes that overlap the same spans are included
    /// too, and appear again in the part with their own change.
    public var chunks: [ChangedChunk] = []
    /// The changed roll-ups.
    public var rollUps: [ChangedRollUps] = []
    /// The new events.
    public var events: [StoredEvent] = []
    /// The counter readings of each hour in which a reading changed.
    public var counters: [CounterValue] = []
    /// The samples of the changed chunks' spans and of the requested spans, in ascending order of time, as
    /// ``PowerHistory/samples(of:from:to:atMost:_:)`` returns them.
    public var samples: [PlugID: [TimedSample]] = [:]
    /// The time before which this history has deleted samples, in milliseconds since 1970.
    public var samplesFrom: [PlugID: Int64] = [:]

    init(through: Int64, isAll: Bool) {
        self.through = through
        self.isAll = isAll
    }
}

/// A chunk that is new or longer, or that moved on the wall clock.
public struct ChangedChunk: Hashable, Sendable {
    /// The chunk.
    public var stored: StoredChunk
    /// CRC-32 of the chunk's bytes.
    public var checksum: UInt32
    /// True if no other chunk of the plug begins at the same time. If two chunks begin at the same time, the shorter
    /// one is read first.
    public var beginsAlone: Bool

    /// The time of the first sample, in milliseconds since 1970.
    public var since: Int64 { stored.origin.addingClamped(stored.chunk.firstMilliseconds) }
    /// The time of the last sample, in milliseconds since 1970; never before ``since``.
    public var until: Int64 { max(since, stored.origin.addingClamped(stored.chunk.lastMilliseconds)) }
}

/// The current roll-ups of a span. They replace all previous rows of the span.
public struct ChangedRollUps: Hashable, Sendable {
    /// The plug of all rows.
    public var plug: PlugID
    /// The step: each row summarizes one minute, quarter-hour, hour or day.
    public var step: RollUpStep
    /// Milliseconds since 1970.
    public var span: Range<Int64>
    /// The rows in ascending order of time; a step without data has no row.
    public var rows: [RollUpRow]
}

/// The summary of a minute, quarter-hour, hour or day.
public struct RollUpRow: Hashable, Sendable {
    /// Milliseconds since 1970.
    public var start: Int64
    /// The time between samples that are at most 30 s apart, in milliseconds.
    public var coveredMilliseconds: Int64
    /// The mean in watts over the covered time; nil without samples.
    public var mean: Double?
    /// The least sample in watts; nil without samples.
    public var least: Double?
    /// The greatest sample in watts; nil without samples.
    public var greatest: Double?
    /// The energy. For minutes, only the energy that the samples show.
    public var wattHours: Double
    /// The part of the energy that belongs to time without samples.
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

/// A reading of a plug's energy counter.
public struct CounterValue: Hashable, Sendable {
    /// The plug that has the counter.
    public var plug: PlugID
    /// Milliseconds since 1970.
    public var at: Int64
    /// The energy that the counter showed.
    public var milliwattHours: Int64
}

/// A sample on the wall clock.
public struct TimedSample: Hashable, Sendable {
    /// Milliseconds since 1970.
    public var at: Int64
    /// The sample. Its own time is that of the plug's clock.
    public var sample: Sample
}
