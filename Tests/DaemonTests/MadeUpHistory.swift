import Dispatch
import Metering
import PlugModel
import PowerHistory
import Synchronization

@testable import Daemon

/// A history in memory, with a disk that the test can make full or block.
final class MadeUpHistory: WritableHistory {
    private struct Content {
        var batch = HistoryBatch()
        var fails = false
        var readers: [(wanted: @Sendable (HistoryBatch) -> Bool, CheckedContinuation<Void, Never>)] = []
    }

    private let content = Mutex(Content())
    /// If present, each write waits for a signal.
    private let gate: DispatchSemaphore?

    init(gate: DispatchSemaphore? = nil) { self.gate = gate }

    var fails: Bool {
        get { content.withLock { $0.fails } }
        set { content.withLock { $0.fails = newValue } }
    }

    /// The stored content.
    var stored: HistoryBatch { content.withLock { $0.batch } }

    func samples(
        of plug: PlugID, from: Int64, to: Int64, atMost limit: Int,
        _ body: (_ milliseconds: Int64, _ sample: Sample) -> Void
    ) throws(HistoryError) -> [ClosedRange<Int64>] { [] }

    func record(_ batch: HistoryBatch) throws {
        gate?.wait()
        try content.withLock { content in
            guard !content.fails else { throw HistoryError(.full, "/full/history.sqlite") }
            content.batch.names.merge(batch.names) { $1 }
            content.batch.chunks += batch.chunks
            content.batch.fetched += batch.fetched
            content.batch.counters += batch.counters
            content.batch.events += batch.events
            content.batch.firings += batch.firings
            content.batch.traces += batch.traces
            let stored = content.batch
            content.readers.filter { $0.wanted(stored) }.forEach { $0.1.resume() }
            content.readers.removeAll { $0.wanted(stored) }
        }
    }

    func missing(of plug: PlugID, boot: BootID, through now: Int64) throws -> [ClosedRange<Int64>] {
        let fetched = stored.fetched.filter { $0.plug == plug && $0.boot == boot }
        var holes = [0...now]
        for span in fetched.map(\.span) {
            holes = holes.flatMap { hole -> [ClosedRange<Int64>] in
                guard hole.overlaps(span) else { return [hole] }
                let above = span.upperBound < hole.upperBound ? [span.upperBound + 1...hole.upperBound] : []
                return above + (hole.lowerBound < span.lowerBound ? [hole.lowerBound...span.lowerBound - 1] : [])
            }
        }
        return holes
    }

    func forgetOld(now: Int64) throws {}

    /// Returns when the stored content meets a condition.
    func has(_ wanted: @escaping @Sendable (HistoryBatch) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isSo = content.withLock { content in
                if wanted(content.batch) { return true }
                content.readers.append((wanted, continuation))
                return false
            }
            if isSo { continuation.resume() }
        }
    }
}
