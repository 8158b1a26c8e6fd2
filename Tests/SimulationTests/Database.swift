import Metering
import PlugClient
import PlugModel

/// The records that a controller of the simulated house stores under one plug name, about all plugs that have used this
/// name one after the other. They survive every fault; each change is one transaction.
struct Database {
    struct ReportedGap {
        let gap: Gap
        /// The boot of the session that reported the gap.
        let boot: BootID?
    }

    /// The start of following a plug that took over a name.
    struct Beginning {
        /// The highest number of an event that was received from the previous plugs with this name.
        let last: SequenceNumber
        /// The number of the new plug's event after which following starts.
        let after: SequenceNumber
    }

    /// The last received event of each plug that had the name. A plug whose flash lost the id counts as a new plug.
    private(set) var cursors: [PlugID: SequenceNumber] = [:]
    private var plug: PlugID?
    private(set) var seen: [PlugEvent] = []
    private(set) var gaps: [ReportedGap] = []
    private(set) var beginnings: [Beginning] = []
    /// The plugs that proved the setup code.
    var pinned: Set<PublicKey> = []
    var outstanding: [RequestID: PlugCommand] = [:]
    /// The outcome of each acknowledged command, and the boot of the session that received it.
    var acknowledged: [RequestID: (outcome: CommandOutcome, boot: BootID?)] = [:]
    /// The samples by boot, in the order of the fetches.
    var samples: [BootID: [Sample]] = [:]

    var cursor: SequenceNumber { plug.flatMap { cursors[$0] } ?? 0 }

    /// The cursor for a plug that is not in ``cursors``.
    var start: Cursor { cursors.isEmpty ? .beginning : .now }

    mutating func meet(_ plug: PlugID) {
        if cursors.isEmpty { cursors[plug] = 0 }
        self.plug = plug
    }

    mutating func begin(after sequence: SequenceNumber) -> String? {
        guard let plug, cursors[plug] == nil else { return "following started again despite a cursor" }
        beginnings.append(Beginning(last: cursors.values.max() ?? 0, after: sequence))
        cursors[plug] = sequence
        return nil
    }

    /// Stores an event. Returns the violated invariant, or nil.
    mutating func take(_ event: PlugEvent) -> String? {
        defer { move(to: event.sequence) }
        seen.append(event)
        return event.sequence == cursor + 1 ? nil : "event \(event.sequence) came after \(cursor)"
    }

    mutating func take(_ gap: Gap, boot: BootID?) -> String? {
        defer { move(to: gap.to) }
        gaps.append(ReportedGap(gap: gap, boot: boot))
        if gap.reason == .unknownCursor { return nil }
        return gap.from == cursor + 1 && gap.to >= gap.from
            ? nil : "a gap from \(gap.from) to \(gap.to) after \(cursor)"
    }

    private mutating func move(to sequence: SequenceNumber) {
        guard let plug else { preconditionFailure("no plug is connected") }
        cursors[plug] = sequence
    }
}

/// A fetch of a range of a boot's samples, chunk by chunk.
struct SampleFetch {
    struct Disorder: Error, CustomStringConvertible { let description: String }

    let number: UInt32
    let boot: BootID
    /// The range in milliseconds of the plug's clock.
    let range: ClosedRange<Int64>
    /// The samples in the range; a chunk may contain others as well.
    private(set) var samples: [Sample] = []
    private var last: Int64 = -1

    init(number: UInt32, boot: BootID, range: ClosedRange<Int64>) {
        self.number = number
        self.boot = boot
        self.range = range
    }

    mutating func add(_ chunk: [Sample]) throws {
        for sample in chunk {
            guard sample.milliseconds > last else {
                throw Disorder(description: "a sample of \(sample.milliseconds) ms came after one of \(last) ms")
            }
            last = sample.milliseconds
            if range.contains(last) { samples.append(sample) }
        }
    }
}
