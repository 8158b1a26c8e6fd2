import Metering
import PlugClient
import PlugModel
import PowerHistory

/// What came of a piece that was asked for, as it is to be stored.
struct WindowAnswer: Sendable {
    /// A sample is in the plug's memory so soon after it was taken, however uncertain its clock is here.
    static let settling: Int64 = 30_000
    /// While it was fetched the plug went on: as long as anybody waits for an answer, and what its clock is uncertain by.
    static let ahead: Int64 = 120_000

    let window: BackfillPlan.Window
    let chunks: [StoredChunk]
    /// From the first sample to the last; nil without any.
    let covered: ClosedRange<Int64>?
    /// What need not be asked for again: the chunks came whole, so as far as they reach. Of the newest end that is the last
    /// sample, since more may have come since.
    let fetched: FetchedSpan?

    init(_ window: BackfillPlan.Window, _ answer: FetchedChunks) {
        self.window = window
        let origin = answer.origin.milliseconds
        // A plug sends nothing else; one that is broken is not to spoil what is known of other times.
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
