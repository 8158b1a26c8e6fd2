import Metering
import PlugModel
import PowerHistory

/// A chunk whose samples stand as rows at a database.
struct KnownChunk: Hashable, Sendable {
    /// Milliseconds since 1970.
    var since: Int64
    var until: Int64
    /// Its first samples stand as rows: so many.
    var rows: Int
    /// Of those.
    var digest: Int64
}

/// Which rows of samples a changed chunk touches.
///
/// Rows are what a reader of the history finds, so they depend on all chunks of their time. But a chunk that changes touches rows only
/// where it was and where it is.
struct SampleSpans {
    /// Milliseconds since 1970: all rows in them are to be replaced by what a reader finds there now.
    let spans: [ClosedRange<Int64>]
    /// Of the chunk as it is now, for the next time.
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
        // The beginning stands there already.
        let reached = samples[known.rows - 1].milliseconds &- samples[0].milliseconds
        let from = chunk.since.addingReportingOverflow(reached &+ 1).partialValue
        spans = known.rows < samples.count && from <= chunk.until ? [from...chunk.until] : []
    }

    /// Of others than these it is another, as far as 64 bits go.
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

/// Which rows of samples are to be replaced because of a part of what changed, and by which.
struct SampleRewrite {
    let chunks: [(chunk: ChangedChunk, spans: SampleSpans, known: KnownChunk?)]
    /// Milliseconds since 1970: all rows of a plug in them are removed first. In order.
    let spans: [PlugID: [ClosedRange<Int64>]]
    private let samples: [PlugID: [TimedSample]]

    /// - Parameters:
    ///   - known: what there is of each changed chunk, in their order.
    ///   - times: outside of them nothing is touched.
    init(_ changes: HistoryChanges, known: [KnownChunk?], times: ClosedRange<Int64>) {
        chunks = zip(changes.chunks, known).map { ($0, SampleSpans($0, known: $1), $1) }
        samples = changes.samples
        var spans: [PlugID: [ClosedRange<Int64>]] = [:]
        for (chunk, touched, _) in chunks {
            let plug = chunk.stored.plug
            // What was forgotten here stays there.
            let from = max(times.lowerBound, changes.samplesFrom[plug] ?? .min)
            spans[plug, default: []] += touched.spans.compactMap { span in
                let (lower, upper) = (max(span.lowerBound, from), min(span.upperBound, times.upperBound))
                return lower <= upper ? lower...upper : nil
            }
        }
        self.spans = spans.mapValues(\.united)
    }

    /// Where chunks were that are elsewhere now: there the samples of others may come to light, and are to be read, too.
    static func elsewhere(_ changes: HistoryChanges, known: [KnownChunk?]) -> [PlugID: [ClosedRange<Int64>]] {
        var elsewhere: [PlugID: [ClosedRange<Int64>]] = [:]
        for (chunk, known) in zip(changes.chunks, known) {
            guard let known, known.rows > 0, known.since != chunk.since || known.until > chunk.until else { continue }
            elsewhere[chunk.stored.plug, default: []].append(known.since...max(known.since, known.until))
        }
        return elsewhere
    }

    /// The new rows of a plug, in order.
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

    /// About how many rows come.
    var count: Int { samples.values.reduce(0) { $0 + $1.count } }
}
