import Metering
import PlugClient
import PlugModel
import PowerHistory

/// The samples that were fetched for a window, converted to the types of the history.
struct BackfillResult: Sendable {
    /// The time in milliseconds after which the plug has certainly stored a sample, including the uncertainty of the
    /// plug's clock.
    static let settling: Int64 = 30_000
    /// The maximum time in milliseconds by which a chunk may be newer than the request. It covers the duration of the
    /// fetch and the uncertainty of the plug's clock.
    static let ahead: Int64 = 120_000

    let window: BackfillPlan.Window
    let chunks: [StoredChunk]
    /// The range from the first to the last sample; nil without samples.
    let covered: ClosedRange<Int64>?
    /// The range that need not be fetched again: the window and the whole chunks. The time within ``settling`` before
    /// the request is left out, unless a sample at or after it was fetched, because the plug may store more samples of
    /// that time. Nil if the range is empty.
    let fetched: FetchedSpan?

    init(_ window: BackfillPlan.Window, _ answer: FetchedChunks) {
        self.window = window
        let origin = answer.origin.milliseconds
        // Chunks outside of the window are dropped, so that a faulty plug cannot affect other time ranges.
        let honest = answer.chunks.filter {
            $0.firstMilliseconds >= 0 && $0.lastMilliseconds <= answer.asked + Self.ahead
                && window.range.overlaps($0.firstMilliseconds...$0.lastMilliseconds)
        }
        chunks = honest.map { StoredChunk(plug: window.plug, boot: window.boot, origin: origin, chunk: $0) }
        let first = honest.map(\.firstMilliseconds).min()
        let last = honest.map(\.lastMilliseconds).max()
        covered = first.flatMap { first in last.map { first...$0 } }
        let from = min(window.range.lowerBound, first ?? .max)
        let through = max(min(window.range.upperBound, answer.asked - Self.settling), last ?? .min)
        fetched =
            from <= through ? FetchedSpan(plug: window.plug, boot: window.boot, span: from...through) : nil
    }
}
