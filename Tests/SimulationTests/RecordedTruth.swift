import Metering
import PlugModel
import PowerHistory

/// A minimal history for the simulation.
struct RecordedTruth {
    struct Timeline: Hashable {
        var plug: PlugID
        var boot: BootID
    }

    /// The chunks by the time of their first sample.
    private(set) var chunks: [Timeline: [Int64: SampleChunk]] = [:]
    private var fetched: [Timeline: [ClosedRange<Int64>]] = [:]
    /// The stored chunks of all plugs, in storage order.
    private(set) var order: [StoredChunk] = []

    mutating func record(_ batch: HistoryBatch) {
        for chunk in batch.chunks {
            let timeline = Timeline(plug: chunk.plug, boot: chunk.boot)
            let known = chunks[timeline]?[chunk.chunk.firstMilliseconds]
            guard known.map({ $0.count < chunk.chunk.count }) ?? true else { continue }
            chunks[timeline, default: [:]][chunk.chunk.firstMilliseconds] = chunk.chunk
            order.append(chunk)
        }
        for span in batch.fetched { fetched[Timeline(plug: span.plug, boot: span.boot), default: []].append(span.span) }
    }

    /// The ranges that were not fetched, newest first.
    func missing(of plug: PlugID, _ boot: BootID, through now: Int64) -> [ClosedRange<Int64>] {
        var holes = [0...max(0, now)]
        for span in fetched[Timeline(plug: plug, boot: boot)] ?? [] {
            holes = holes.flatMap { hole -> [ClosedRange<Int64>] in
                guard hole.overlaps(span) else { return [hole] }
                let above = span.upperBound < hole.upperBound ? [span.upperBound + 1...hole.upperBound] : []
                return above + (hole.lowerBound < span.lowerBound ? [hole.lowerBound...span.lowerBound - 1] : [])
            }
        }
        return holes
    }

    func samples(of boot: BootID) throws -> Set<Sample> {
        var found: Set<Sample> = []
        for (timeline, kept) in chunks where timeline.boot == boot {
            for chunk in kept.values { found.formUnion(try chunk.samples()) }
        }
        return found
    }
}
