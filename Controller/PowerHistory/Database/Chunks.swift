import GRDB
import Metering

/// The row of a chunk and its span, without its bytes.
struct ChunkPlace {
    var id: Int64
    /// The wall clock at the first and the last sample, in milliseconds since 1970.
    var since: Int64
    var until: Int64

    fileprivate init(_ row: SQLRow) { (id, since, until) = (row.integer(0), row.time(1), row.time(2)) }
}

extension Database {
    /// Returns the chunks of a plug that overlap a span of the wall clock, sorted by the time of their first sample.
    func chunkPlaces(of plug: Int64, from: Int64, to: Int64) throws -> [ChunkPlace] {
        guard from <= to else { return [] }
        let longest = try integer("SELECT longest FROM plug WHERE id = ?", .integer(plug)) ?? 0
        var places: [ChunkPlace] = []
        do {
            try query(
                """
                SELECT id, since, until FROM chunk WHERE plug = ? AND since BETWEEN ? AND ? AND until >= ?
                ORDER BY since, until, id
                """, .integer(plug), .integer(from.subtractingClamped(longest)), .integer(to), .integer(from)
            ) { places.append(ChunkPlace($0)) }
            return places
        } catch let error as DatabaseError where error.isDamage {
            return try chunkPlacesWithoutIndex(of: plug, from: from, to: to)
        }
    }

    /// Reads row by row, without the index: a damaged page then loses only the rows that it contains.
    private func chunkPlacesWithoutIndex(of plug: Int64, from: Int64, to: Int64) throws -> [ChunkPlace] {
        var places: [ChunkPlace] = []
        _ = try DamagedTable(database: self, name: "chunk").read("id, since, until, plug") { row in
            let place = ChunkPlace(row)
            if row.integer(3) == plug, place.since <= to, place.until >= from { places.append(place) }
            return true
        }
        return places.sorted { ($0.since, $0.until, $0.id) < ($1.since, $1.until, $1.id) }
    }

    /// Returns nil if the row, its page or its bytes are damaged.
    func chunk(_ id: Int64) throws -> SampleChunk? {
        var chunk: SampleChunk?
        do {
            try query("SELECT crc, bytes FROM chunk WHERE id = ?", .integer(id)) { row in
                let bytes = row.bytes(1)
                guard Int64(Checksum.crc32(bytes)) == row.integer(0) else { return }
                chunk = try? SampleChunk(bytes: bytes)
            }
        } catch let error as DatabaseError where error.isDamage {
            return nil
        }
        return chunk
    }

    func samples(ofChunk id: Int64) throws -> (origin: Int64, samples: [Sample])? {
        guard let chunk = try chunk(id), let samples = try? chunk.samples() else { return nil }
        return (chunk.firstMilliseconds, samples)
    }

    /// Calls the body with the samples of each chunk, sorted by time, and the difference between the wall clock and the
    /// samples' own times. A chunk owns its whole span, including the part outside of the requested span: samples of
    /// later chunks that lie within the chunk's span are skipped.
    ///
    /// - Returns: The spans whose samples are unreadable.
    func eachChunk(
        of plug: Int64, from: Int64, to: Int64, _ body: (_ samples: [Sample], _ origin: Int64) throws -> Void
    ) throws -> [ClosedRange<Int64>] {
        var damaged: [ClosedRange<Int64>] = []
        var reached = Int64.min
        for place in try chunkPlaces(of: plug, from: from, to: to) {
            if let (first, samples) = try samples(ofChunk: place.id), let last = samples.last?.milliseconds {
                let origin = place.since.subtractingClamped(first)
                let isLater = { (sample: Sample) in sample.milliseconds.addingClamped(origin) > reached }
                try body(place.since > reached ? samples : samples.filter(isLater), origin)
                reached = max(reached, last.addingClamped(origin))
            } else {
                damaged.append(place.since...max(place.since, place.until))
            }
        }
        return damaged
    }
}

extension DatabaseError {
    /// True if the stored data is damaged, in contrast to a failing or locked storage.
    var isDamage: Bool {
        resultCode.primaryResultCode == .SQLITE_CORRUPT || resultCode.primaryResultCode == .SQLITE_NOTADB
    }
}

extension Int64 {
    func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }

    func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }
}
