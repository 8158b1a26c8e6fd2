public import LocalCalendar
import Metering
public import PlugModel
public import Recordings

/// A recording as the history of a plug. The same recording makes the same chunks of the same boot, so that it can be imported
/// twice and is there once.
public struct RecordedHistory: Sendable {
    /// One at most for each ``batchSize`` samples: each is stored in a transaction of its own, and a program that shows how far
    /// it is has something to show.
    public let batches: [HistoryBatch]
    /// Samples in it: of several points with the same time the last counts.
    public let count: Int
    /// Milliseconds since 1970 of the first and the last.
    public let span: ClosedRange<Int64>

    static let batchSize = 65_536

    /// - Parameters:
    ///   - plug: to whom it belongs.
    ///   - start: for a recording without dates, when it began: milliseconds since 1970. One with dates has local times.
    ///   - zone: of those.
    /// - Returns: nil for a recording without dates and no start.
    public init?(_ recording: Recordings.Recording, of plug: PlugID, start: Int64? = nil, zone: ZoneOffsets) {
        let midnight = recording.day.map { Int64($0.number) * 86_400_000 }
        guard let origin = midnight ?? start else { return nil }
        var samples: [Sample] = []
        samples.reserveCapacity(recording.points.count)
        for point in recording.points {
            let local = origin + point.milliseconds
            let time = midnight == nil ? local : Self.universal(local, zone)
            let sample = Sample(milliseconds: time, deciwatts: point.deciwatts)
            if let last = samples.last, last.milliseconds >= time {
                // An hour that the clock showed twice is there once: nobody knows which of the two it was.
                if last.milliseconds == time { samples[samples.count - 1] = sample }
            } else {
                samples.append(sample)
            }
        }
        count = samples.count
        span = samples[0].milliseconds...samples[samples.count - 1].milliseconds
        let boot = Self.boot(of: samples)
        batches = stride(from: 0, to: samples.count, by: Self.batchSize).map { begin in
            let end = min(begin + Self.batchSize, samples.count)
            let chunks = Self.chunks(of: samples[begin..<end])
            var batch = HistoryBatch()
            // The clock of this boot is the wall's.
            batch.chunks = chunks.map { StoredChunk(plug: plug, boot: boot, origin: 0, chunk: $0) }
            let covered = samples[begin].milliseconds...samples[end - 1].milliseconds
            batch.fetched = [FetchedSpan(plug: plug, boot: boot, span: covered)]
            return batch
        }
    }

    /// A chunk ends where nothing was recorded for a while, so that what another recording knows of that time has its place.
    private static let pause: Int64 = 600_000

    private static func chunks(of samples: ArraySlice<Sample>) -> [SampleChunk] {
        var chunks: [SampleChunk] = []
        var encoder = SampleChunkEncoder()
        var begin = samples.startIndex
        for index in samples.indices {
            let isLast = index + 1 == samples.endIndex
            guard isLast || samples[index + 1].milliseconds - samples[index].milliseconds > pause else { continue }
            chunks += encoder.append(contentsOf: Array(samples[begin...index]))
            if let last = encoder.seal() { chunks.append(last) }
            begin = index + 1
        }
        return chunks
    }

    /// The id of a plug that only recordings know, from its name, so that it is the same wherever they are imported.
    public static func plug(named name: String) -> PlugID {
        let hash = fnv1a(name.lowercased().utf8, from: 0xCBF2_9CE4_8422_2325)
        let digits = String(hash & 0xFFFF_FFFF_FFFF, radix: 16)
        guard let id = PlugID(rawValue: String(repeating: "0", count: 12 - digits.count) + digits) else {
            preconditionFailure("twelve hexadecimal digits are an id")
        }
        return id
    }

    private static func universal(_ local: Int64, _ zone: ZoneOffsets) -> Int64 {
        // The offset at the time that the one of a first guess leads to: right everywhere but in the hour of a change.
        let guess = Double(local) / 1000
        let offset = zone.offset(at: guess - Double(zone.offset(at: guess)))
        return local - Int64(offset) * 1000
    }

    private static func boot(of samples: [Sample]) -> BootID {
        func bytes(_ seed: UInt64) -> [UInt8] {
            var hash = seed
            for sample in samples {
                hash = (hash ^ UInt64(bitPattern: sample.milliseconds)) &* 0x0000_0100_0000_01B3
                hash = (hash ^ UInt64(UInt32(bitPattern: sample.deciwatts))) &* 0x0000_0100_0000_01B3
                hash ^= hash >> 29
            }
            return (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * UInt64($0))) }
        }
        guard let boot = BootID(bytes: bytes(0xCBF2_9CE4_8422_2325) + bytes(0x9E37_79B9_7F4A_7C15)) else {
            preconditionFailure("sixteen bytes are a boot's identifier")
        }
        return boot
    }

    private static func fnv1a(_ bytes: some Sequence<UInt8>, from offset: UInt64) -> UInt64 {
        bytes.reduce(offset) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
