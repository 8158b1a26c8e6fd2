public import ProtocolCore

/// The samples of one boot, up to a limit of bytes: sealed chunks and the open one. The oldest chunks are dropped
/// first.
public struct SampleStore: Sendable {
    /// The size of seven days at one sample per second and at most 2.48 bytes per sample.
    public static let defaultByteLimit = 1_500_000

    /// The sealed chunks, oldest first.
    public private(set) var sealed: [SampleChunk] = []
    private var open = SampleChunkEncoder()
    private var sealedBytes = 0
    private let byteLimit: Int

    /// Creates an empty store.
    ///
    /// - Parameter byteLimit: the limit of the sealed chunks in bytes, which bounds the memory.
    public init(byteLimit: Int = SampleStore.defaultByteLimit) { self.byteLimit = byteLimit }

    /// A sealed copy of the open chunk; nil while it is empty.
    public var openChunk: SampleChunk? { open.chunk }

    /// The memory of all samples in bytes, including the open chunk.
    public var byteCount: Int { sealedBytes + open.byteCount }

    /// The plug's clock at the newest sample, in milliseconds; nil if the store is empty.
    public var lastMilliseconds: Int64? { open.span?.upperBound ?? sealed.last?.lastMilliseconds }

    /// The number of stored samples.
    public var count: Int { sealed.reduce(open.count) { $0 + $1.count } }

    /// Adds a sample. Drops the oldest chunks if the limit is exceeded.
    public mutating func append(_ sample: Sample) {
        guard let chunk = open.append(sample) else { return }
        keep(chunk)
    }

    /// Restores a stored chunk. Chunks must be restored in their original order and before any new sample.
    public mutating func restore(_ chunk: SampleChunk) {
        if let own = open.seal() { keep(own) }
        keep(chunk)
    }

    /// Returns the chunks with samples in the range, oldest first. They may also contain samples outside the range,
    /// which ``SampleChunk/samples(from:through:)`` removes. A copy of the open chunk comes last; a later call may
    /// return a longer copy.
    public func chunks(from first: Instant, through last: Instant) -> [SampleChunk] {
        guard first <= last else { return [] }
        let range = first.wholeMilliseconds...last.wholeMilliseconds
        var found = sealed.filter { range.overlaps($0.firstMilliseconds...$0.lastMilliseconds) }
        if let span = open.span, range.overlaps(span), let chunk = open.chunk { found.append(chunk) }
        return found
    }

    private mutating func keep(_ chunk: SampleChunk) {
        sealed.append(chunk)
        sealedBytes += chunk.bytes.count
        var dropped = 0
        while sealedBytes > byteLimit, dropped < sealed.count {
            sealedBytes -= sealed[dropped].bytes.count
            dropped += 1
        }
        sealed.removeFirst(dropped)
    }
}
