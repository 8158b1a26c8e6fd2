public import Metering
public import PlugModel

extension PowerHistory {
    /// Opens a cursor for the samples of a span, which are read chunk by chunk. It suits callers that read several
    /// plugs in parallel.
    ///
    /// - Parameters:
    ///   - from: Milliseconds since 1970, as is `to`; both are included.
    public func cursor(of plug: PlugID, from: Int64, to: Int64) throws(HistoryError) -> SampleCursor {
        let places = try read { database -> [ChunkPlace] in
            guard let plug = try database.row(of: plug) else { return [] }
            return try database.chunkPlaces(of: plug, from: from, to: to)
        }
        return SampleCursor(history: self, places: places, from: from, to: to)
    }
}

/// A position in the samples of a plug. It holds the places of their chunks in memory, but no samples.
public struct SampleCursor: Sendable {
    private let history: PowerHistory
    private let places: [ChunkPlace]
    private let from: Int64
    private let to: Int64
    private var next = 0
    private var last: Int64
    /// The number of unreadable chunks so far.
    public private(set) var damaged = 0

    fileprivate init(history: PowerHistory, places: [ChunkPlace], from: Int64, to: Int64) {
        self.history = history
        self.places = places
        self.from = from
        self.to = to
        last = from.subtractingClamped(1)
    }

    /// Returns the next samples in ascending order, or nil after the last one. Their milliseconds are those of the wall
    /// clock, since 1970. Unreadable chunks are skipped and counted in ``damaged``.
    public mutating func piece() throws(HistoryError) -> [Sample]? {
        while next < places.count {
            let place = places[next]
            next += 1
            guard place.until > last else { continue }
            guard let (first, samples) = try history.read({ try $0.samples(ofChunk: place.id) }) else {
                damaged += 1
                continue
            }
            let found = later(samples, place.since.subtractingClamped(first))
            if let end = found.last {
                last = end.milliseconds
                return found
            }
        }
        return nil
    }

    private func later(_ samples: [Sample], _ origin: Int64) -> [Sample] {
        var found = samples
        var (count, last) = (0, last)
        var span = found.mutableSpan
        for index in samples.indices {
            let time = samples[index].milliseconds.addingClamped(origin)
            guard time > last, time <= to else { continue }
            span[count] = samples[index]
            span[count].milliseconds = time
            (count, last) = (count + 1, time)
        }
        found.removeLast(samples.count - count)
        return found
    }
}
