import Metering
import PlugModel
import PowerHistory

/// A chunk that a receiver already has: a database, where its samples are rows, or a remote-write server.
struct KnownChunk: Hashable, Sendable {
    /// The time of the chunk's first sample at the receiver, in milliseconds since 1970.
    var since: Int64
    /// The time of the chunk's last sample at the receiver, in milliseconds since 1970.
    var until: Int64
    /// The number of the chunk's samples that the receiver has, counted from the chunk's first sample.
    var rows: Int
    /// The digest of those samples.
    var digest: Int64
}

/// The rows of samples that a changed chunk affects.
///
/// Rows contain the samples that a reader of the history finds, so a row depends on all chunks of its time. A changed
/// chunk affects only rows at its old and its new time.
struct SampleSpans {
    /// The ranges in milliseconds since 1970 whose rows must be replaced by the reader's current samples.
    let spans: [ClosedRange<Int64>]
    /// The number of rows of the current chunk, stored for the next change.
    let rows: Int
    let digest: Int64

    init(_ chunk: ChangedChunk, known: KnownChunk?) {
        let samples = (try? chunk.stored.chunk.samples()) ?? []
        rows = samples.count
        digest = Self.digest(samples[...])
        guard let known, known.rows > 0 else {
            spans = [chunk.since...chunk.until]
            return
        }
        let isLonger =
            known.since == chunk.since && chunk.beginsAlone && known.rows <= samples.count
            && Self.digest(samples.prefix(known.rows)) == known.digest
        guard isLonger else {
            spans = [known.since...max(known.since, known.until), chunk.since...chunk.until]
            return
        }
        // The rows of the samples that the database already has are unchanged.
        let reached = samples[known.rows - 1].milliseconds &- samples[0].milliseconds
        let from = chunk.since.addingReportingOverflow(reached &+ 1).partialValue
        spans = known.rows < samples.count && from <= chunk.until ? [from...chunk.until] : []
    }

    /// Returns a 64-bit digest that distinguishes different samples.
    static func digest(_ samples: ArraySlice<Sample>) -> Int64 {
        // FNV-1a over words of 64 bits.
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ word: UInt64) {
            sum = (sum ^ word) &* 0x0000_0100_0000_01B3
            sum ^= sum >> 29
        }
        for sample in samples {
            add(UInt64(bitPattern: sample.milliseconds))
            add(
                UInt64(UInt32(bitPattern: sample.deciwatts)) | UInt64(sample.decivolts.map { UInt32($0) + 1 } ?? 0)
                    << 32)
            add(UInt64(sample.milliamperes.map { UInt64($0) + 1 } ?? 0))
        }
        return Int64(bitPattern: sum)
    }
}

/// The rows of samples to replace for a part of the changes, and the new rows.
struct SampleRewrite {
    let chunks: [(chunk: ChangedChunk, spans: SampleSpans, known: KnownChunk?)]
    /// The ranges in milliseconds since 1970 whose rows are removed first, in order per plug.
    let spans: [PlugID: [ClosedRange<Int64>]]
    private let samples: [PlugID: [TimedSample]]

    /// - Parameters:
    ///   - known: the database's row of each changed chunk, in the same order; nil for a chunk without a row.
    ///   - times: the range of times that may be changed.
    init(_ changes: HistoryChanges, known: [KnownChunk?], times: ClosedRange<Int64>) {
        chunks = zip(changes.chunks, known).map { ($0, SampleSpans($0, known: $1), $1) }
        samples = changes.samples
        var spans: [PlugID: [ClosedRange<Int64>]] = [:]
        for (chunk, touched, _) in chunks {
            let plug = chunk.stored.plug
            // Samples that were deleted here are kept in the database.
            let from = max(times.lowerBound, changes.samplesFrom[plug] ?? .min)
            spans[plug, default: []] += touched.spans.compactMap { span in
                let (lower, upper) = (max(span.lowerBound, from), min(span.upperBound, times.upperBound))
                return lower <= upper ? lower...upper : nil
            }
        }
        self.spans = spans.mapValues(\.united)
    }

    /// Returns the old ranges of chunks that were moved or now end earlier. Samples of other chunks may become visible
    /// in these ranges, so their samples must be read as well.
    static func elsewhere(_ changes: HistoryChanges, known: [KnownChunk?]) -> [PlugID: [ClosedRange<Int64>]] {
        var elsewhere: [PlugID: [ClosedRange<Int64>]] = [:]
        for (chunk, known) in zip(changes.chunks, known) {
            guard let known, known.rows > 0, known.since != chunk.since || known.until > chunk.until else { continue }
            elsewhere[chunk.stored.plug, default: []].append(known.since...max(known.since, known.until))
        }
        return elsewhere
    }

    /// Calls the body for the new rows of a plug, in order.
    func eachSample(of plug: PlugID, _ body: (TimedSample) -> Void) {
        guard let samples = samples[plug], let spans = spans[plug] else { return }
        var index = 0
        for span in spans {
            while index < samples.count, samples[index].at < span.lowerBound { index += 1 }
            while index < samples.count, samples[index].at <= span.upperBound {
                body(samples[index])
                index += 1
            }
        }
    }

    /// The approximate number of rows.
    var count: Int { samples.values.reduce(0) { $0 + $1.count } }
}
