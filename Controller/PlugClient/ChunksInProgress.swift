import Metering
import PlugModel

/// Chunks that come in for somebody who waits and keeps them as they are.
struct ChunksInProgress: FetchInProgress {
    typealias Outcome = Result<[SampleChunk], any Error>

    /// Bytes of one fetch: more than a plug keeps. Stops one that never sends its last chunk from filling the memory.
    static let limit = 8 << 20

    private let continuation: CheckedContinuation<Outcome, Never>
    private var chunks: [SampleChunk] = []
    private var size = 0

    init(_ continuation: CheckedContinuation<Outcome, Never>) { self.continuation = continuation }

    mutating func take(_ bytes: [UInt8], of clock: ClockMapping, last: Bool) throws -> Bool {
        guard !bytes.isEmpty else { return last }
        let chunk = try SampleChunk(bytes: bytes)
        // One that was open at the plug comes again when the fetch went on over another connection, and has grown.
        if chunks.last?.firstMilliseconds == chunk.firstMilliseconds { chunks.removeLast() }
        chunks.append(chunk)
        size += bytes.count
        guard size <= Self.limit else {
            throw Refusal(.outOfRange, "the plug sent more than \(Self.limit) bytes of samples; ask for less time")
        }
        return last
    }

    func succeed() { continuation.resume(returning: .success(chunks)) }
    func fail(_ error: any Error) { continuation.resume(returning: .failure(error)) }
}
