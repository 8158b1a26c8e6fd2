public import Metering
public import PlugModel

extension PowerHistory {
    /// The samples of a span, to be read piece by piece: for whoever reads several plugs beside each other.
    ///
    /// - Parameters:
    ///   - from: milliseconds since 1970, as is `to`; both are included.
    public func cursor(of plug: PlugID, from: Int64, to: Int64) throws(HistoryError) -> SampleCursor {
        let places = try read { database -> [ChunkPlace] in
            guard let plug = try database.row(of: plug) else { return [] }
            return try database.chunkPlaces(of: plug, from: from, to: to)
        }
        return SampleCursor(history: self, places: places, from: from, to: to)
    }
}

/// Where somebody who reads a plug's samples has come to. Of the samples it holds none: only where their chunks are.
public struct SampleCursor: Sendable {
    private let history: PowerHistory
    private let places: [ChunkPlace]
    private let from: Int64
    private let to: Int64
    private var next = 0
    private var last: Int64
    /// Chunks that could not be read, so far.
    public private(set) var damaged = 0

    fileprivate init(history: PowerHistory, places: [ChunkPlace], from: Int64, to: Int64) {
        self.history = history
        self.places = places
        self.from = from
        self.to = to
        last = from.subtractingClamped(1)
    }

    /// The next samples, in order, each later than all before; nil after the last. Their milliseconds are those of the wall clock, since
    /// 1970. What is damaged is left out.
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
