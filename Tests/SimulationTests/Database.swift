import Metering
import PlugClient
import PlugModel

/// What a controller of the simulated house keeps of one plug. Survives everything; each change is one transaction.
struct Database {
    struct ReportedGap {
        let gap: Gap
        /// Of the session that reported it.
        let boot: BootID?
    }

    /// Where following began with a plug that took the name of another.
    struct Beginning {
        /// The last event seen before.
        let last: SequenceNumber
        /// The last one that nobody sees.
        let after: SequenceNumber
    }

    /// The last event seen of each plug that bore the name: one whose flash has lost the id is another plug.
    private(set) var cursors: [PlugID: SequenceNumber] = [:]
    private var plug: PlugID?
    private(set) var seen: [PlugEvent] = []
    private(set) var gaps: [ReportedGap] = []
    private(set) var beginnings: [Beginning] = []
    /// The plugs that proved to know the setup code.
    var pinned: Set<PublicKey> = []
    var outstanding: [RequestID: PlugCommand] = [:]
    /// The answer, and the boot of the session that brought it.
    var acknowledged: [RequestID: (outcome: CommandOutcome, boot: BootID?)] = [:]
    /// By boot, in the order in which they were fetched.
    var samples: [BootID: [Sample]] = [:]

    var cursor: SequenceNumber { plug.flatMap { cursors[$0] } ?? 0 }

    /// Where following begins with a plug that is not among ``cursors``.
    var start: Cursor { cursors.isEmpty ? .beginning : .now }

    mutating func meet(_ plug: PlugID) {
        if cursors.isEmpty { cursors[plug] = 0 }
        self.plug = plug
    }

    mutating func begin(after sequence: SequenceNumber) -> String? {
        guard let plug, cursors[plug] == nil else { return "following began anew, after a cursor" }
        beginnings.append(Beginning(last: cursors.values.max() ?? 0, after: sequence))
        cursors[plug] = sequence
        return nil
    }

    /// Returns what the event goes against, or nil.
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
        guard let plug else { preconditionFailure("no plug was met") }
        cursors[plug] = sequence
    }
}

/// One fetch of a range of a boot's samples, chunk by chunk.
struct SampleFetch {
    struct Disorder: Error, CustomStringConvertible { let description: String }

    let number: UInt32
    let boot: BootID
    /// Milliseconds of the plug's clock.
    let range: ClosedRange<Int64>
    /// Those in the range; a chunk may hold others as well.
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
