import LinuxSystem
import Metering
import PlugModel
import ProtocolCore

/// A fetch that decodes samples as their chunks arrive.
struct SamplesInProgress: FetchInProgress {
    typealias Outcome = Result<[PlugSample], any Error>

    /// The maximum number of samples of one fetch: 46 days at one sample per second. The limit prevents a plug that
    /// never sends its last chunk from filling the memory.
    static let limit = 4_000_000

    private let continuation: CheckedContinuation<Outcome, Never>
    /// The wall-clock time at which the controller's clock was zero.
    private let origin: WallTime
    /// The requested range on the controller's clock.
    private let range: ClosedRange<Instant>
    private var samples: [PlugSample] = []
    /// The boot of the last sample.
    private var boot: BootID?

    init(_ continuation: CheckedContinuation<Outcome, Never>, origin: WallTime, range: ClosedRange<Instant>) {
        self.continuation = continuation
        self.origin = origin
        self.range = range
    }

    mutating func receive(_ bytes: [UInt8], of clock: ClockMapping, last: Bool) throws -> Bool {
        if !bytes.isEmpty {
            let (from, through) = (clock.plugTime(at: range.lowerBound), clock.plugTime(at: range.upperBound))
            add(try SampleChunk(bytes: bytes).samples(from: from, through: through), of: clock)
        }
        guard samples.count <= Self.limit else {
            throw Refusal(.outOfRange, "the plug sent more than \(Self.limit) samples; request a shorter time span")
        }
        return last
    }

    /// Appends the new samples of a chunk. If the fetch resumes on a new connection, the plug may send the last chunk
    /// again, with samples that it has added since. Only the samples after the last known one are appended.
    private mutating func add(_ found: [Sample], of clock: ClockMapping) {
        let known = boot == clock.boot ? samples.last?.sample.milliseconds ?? .min : .min
        boot = clock.boot
        for sample in found where sample.milliseconds > known {
            samples.append(PlugSample(sample, at: origin + (clock.instant(ofPlugTime: sample.time) - .zero)))
        }
    }

    func succeed() { continuation.resume(returning: .success(samples)) }
    func fail(_ error: any Error) { continuation.resume(returning: .failure(error)) }
}
