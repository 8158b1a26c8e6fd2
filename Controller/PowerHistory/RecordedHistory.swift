import Metering
public import PlugModel

/// A recording as the history of a plug.
public struct RecordedHistory: Sendable {
    /// One at most for each ``batchSize`` samples: each is stored in a transaction of its own, and a program that shows how far
    /// it is has something to show.
    public let batches: [HistoryBatch]

    static let batchSize = 65_536

    /// - Parameter plug: to whom it belongs.
    public init(_ recording: PlacedRecording, of plug: PlugID) {
        let samples = recording.filled()
        let boot = Self.boot(of: recording.samples)
        batches = stride(from: 0, to: samples.count, by: Self.batchSize).map { begin in
            let end = min(begin + Self.batchSize, samples.count)
            let chunks = Self.chunks(of: samples[begin..<end], beside: recording.taken)
            var batch = HistoryBatch()
            // The clock of this boot is the wall's.
            batch.chunks = chunks.map { StoredChunk(plug: plug, boot: boot, origin: 0, chunk: $0) }
            let covered = samples[begin].milliseconds...samples[end - 1].milliseconds
            batch.fetched = [FetchedSpan(plug: plug, boot: boot, span: covered)]
            return batch
        }
    }

    /// A chunk ends where nothing was recorded for a while, so that what another recording knows of that time has its place, and
    /// before what is there already: a chunk has all that it reaches over.
    private static func chunks(
        of samples: ArraySlice<PlacedRecording.Sample>, beside taken: CoveredTimes
    ) -> [SampleChunk] {
        var chunks: [SampleChunk] = []
        var encoder = SampleChunkEncoder()
        var last: (milliseconds: Int64, place: Int)?
        for sample in samples {
            let place = taken.countBefore(sample.milliseconds)
            if let before = last,
                place != before.place || sample.milliseconds - before.milliseconds > PlacedRecording.pause,
                let sealed = encoder.seal()
            {
                chunks.append(sealed)
            }
            let next = Sample(milliseconds: sample.milliseconds, deciwatts: sample.deciwatts)
            if let sealed = encoder.append(next) { chunks.append(sealed) }
            last = (sample.milliseconds, place)
        }
        if let sealed = encoder.seal() { chunks.append(sealed) }
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

    private static func boot(of samples: [PlacedRecording.Sample]) -> BootID {
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
