import Metering
public import PlugModel

/// Converts a recording to batches for the history of a plug.
public struct RecordedHistory: Sendable {
    /// The batches, each with at most 65,536 samples before compression. Each is stored in its own transaction, so that
    /// a program can show its progress.
    public let batches: [HistoryBatch]

    static let batchSize = 65_536

    /// Converts a recording.
    ///
    /// - Parameter plug: The owner of the samples.
    public init(_ recording: PlacedRecording, of plug: PlugID) {
        let samples = recording.filled()
        let boot = Self.boot(of: recording.samples)
        batches = stride(from: 0, to: samples.count, by: Self.batchSize).map { begin in
            let end = min(begin + Self.batchSize, samples.count)
            let chunks = Self.chunks(of: samples[begin..<end], beside: recording.taken)
            var batch = HistoryBatch()
            // The boot's clock is the wall clock, so the origin is zero.
            batch.chunks = chunks.map { StoredChunk(plug: plug, boot: boot, origin: 0, chunk: $0) }
            let covered = samples[begin].milliseconds...samples[end - 1].milliseconds
            batch.fetched = [FetchedSpan(plug: plug, boot: boot, span: covered)]
            return batch
        }
    }

    /// Packs samples into chunks. A chunk ends before a pause and before samples that are already stored: a chunk owns
    /// the whole span from its first to its last sample, and a later recording may have samples in the pause.
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

    /// Derives an id from the name of a plug that exists only in recordings. Case is ignored. Each import under the
    /// same name therefore uses the same id.
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
