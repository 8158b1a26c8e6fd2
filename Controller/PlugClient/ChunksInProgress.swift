import Metering
import PlugModel

/// A fetch that collects whole chunks without decoding their samples.
struct ChunksInProgress: FetchInProgress {
    typealias Outcome = Result<[SampleChunk], any Error>

    /// The maximum size of one fetch in bytes, which is more than a plug stores. The limit prevents a plug that never
    /// sends its last chunk from filling the memory.
    static let limit = 8 << 20

    private let continuation: CheckedContinuation<Outcome, Never>
    private var chunks: [SampleChunk] = []
    private var size = 0

    init(_ continuation: CheckedContinuation<Outcome, Never>) { self.continuation = continuation }

    mutating func receive(_ bytes: [UInt8], of clock: ClockMapping, last: Bool) throws -> Bool {
        guard !bytes.isEmpty else { return last }
        let chunk = try SampleChunk(bytes: bytes)
        // If the fetch resumes on a new connection, the plug may send the last chunk again, with samples that it has
        // added since. The second copy replaces the first one.
        if chunks.last?.firstMilliseconds == chunk.firstMilliseconds { chunks.removeLast() }
        chunks.append(chunk)
        size += bytes.count
        guard size <= Self.limit else {
            throw Refusal(
                .outOfRange, "the plug sent more than \(Self.limit) bytes of samples; request a shorter time span")
        }
        return last
    }

    func succeed() { continuation.resume(returning: .success(chunks)) }
    func fail(_ error: any Error) { continuation.resume(returning: .failure(error)) }
}
