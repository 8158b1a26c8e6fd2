import Metering
import PlugProtocol

/// What a controller of the simulated house keeps of one plug. Survives everything; each change is one transaction.
struct Database {
    struct ReportedGap {
        let gap: Gap
        /// Of the session that reported it.
        let boot: BootID?
    }

    /// The last event seen.
    private(set) var cursor: SequenceNumber = 0
    private(set) var seen: [PlugEvent] = []
    private(set) var gaps: [ReportedGap] = []
    var outstanding: [RequestID: PlugCommand] = [:]
    /// The answer, and the boot of the session that brought it.
    var acknowledged: [RequestID: (outcome: CommandOutcome, boot: BootID?)] = [:]
    /// By boot, in the order in which they were fetched.
    var samples: [BootID: [Sample]] = [:]

    /// Requests that took effect, by the boot in which they did: without power a plug forgets what it was asked.
    private var effects: Set<Effect> = []

    private struct Effect: Hashable {
        let boot: BootID
        let request: RequestID
    }

    /// Returns what the event goes against, or nil.
    mutating func take(_ event: PlugEvent) -> String? {
        defer { cursor = event.sequence }
        seen.append(event)
        guard event.sequence == cursor + 1 else { return "event \(event.sequence) came after \(cursor)" }
        guard case .relayChanged(_, cause: .controller(_, let request)) = event.kind else { return nil }
        let isFirst = effects.insert(Effect(boot: event.boot, request: request)).inserted
        return isFirst ? nil : "event \(event.sequence): a command took effect twice"
    }

    mutating func take(_ gap: Gap, boot: BootID?) -> String? {
        defer { cursor = gap.to }
        gaps.append(ReportedGap(gap: gap, boot: boot))
        if gap.reason == .unknownCursor { return nil }
        return gap.from == cursor + 1 && gap.to >= gap.from
            ? nil : "a gap from \(gap.from) to \(gap.to) after \(cursor)"
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
