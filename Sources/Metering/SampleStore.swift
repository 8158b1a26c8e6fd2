public import ProtocolCore

/// The samples of one boot, as many as fit: sealed chunks and the open one. What is oldest goes first.
public struct SampleStore: Sendable {
    /// Seven days at one sample a second need at most this at 2.48 bytes a sample.
    public static let defaultByteLimit = 1_500_000

    /// The chunks that grow no more, oldest first.
    public private(set) var sealed: [SampleChunk] = []
    private var open = SampleChunkEncoder()
    private var sealedBytes = 0
    private let byteLimit: Int

    /// - Parameter byteLimit: what the sealed chunks may take together; it keeps a plug that nobody reads from growing.
    public init(byteLimit: Int = SampleStore.defaultByteLimit) { self.byteLimit = byteLimit }

    /// The chunk that still grows, as it is now; nil while it is empty.
    public var openChunk: SampleChunk? { open.chunk }

    /// Bytes that the samples take now, the open chunk included.
    public var byteCount: Int { sealedBytes + open.byteCount }

    /// The plug's clock at the newest sample, in milliseconds; nil while there is none.
    public var lastMilliseconds: Int64? { open.span?.upperBound ?? sealed.last?.lastMilliseconds }

    /// The number of samples kept.
    public var count: Int { sealed.reduce(open.count) { $0 + $1.count } }

    public mutating func append(_ sample: Sample) {
        guard let chunk = open.append(sample) else { return }
        keep(chunk)
    }

    /// Puts back a chunk that was kept elsewhere, in the order in which it was made and before any new sample.
    public mutating func restore(_ chunk: SampleChunk) {
        if let own = open.seal() { keep(own) }
        keep(chunk)
    }

    /// The chunks that have samples in the range, oldest first, whole: they may hold samples outside it as well, which
    /// ``SampleChunk/samples(from:through:)`` takes off. The open chunk comes last, as it is now; asked again later, it has
    /// grown.
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
