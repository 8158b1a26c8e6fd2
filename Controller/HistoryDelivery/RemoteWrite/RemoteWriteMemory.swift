import PlugModel
import PowerHistory

/// The position of remote write: the last change, and for each plug's last chunk the part that the server has.
struct RemoteWriteMemory: Sendable {
    /// The maximum size of the file in bytes: about 100 bytes for each of 40,000 plugs.
    static let sizeLimit = 4 << 20
    private static let plugLimit = 40_000

    var position: FeedPosition?
    /// The current names of plugs. They are not stored, because the history has them.
    var names: [PlugID: String] = [:]
    private var newest: [PlugID: Sent] = [:]

    private struct Sent: Hashable {
        var boot: [UInt8]
        var first: Int64
        var chunk: KnownChunk
    }

    /// Values with their times in milliseconds since 1970.
    struct Values: Sendable {
        var samples: [PlugID: [TimedSample]] = [:]
        var counters: [PlugID: [CounterValue]] = [:]
    }

    init() {}

    /// Returns the values to send for the changes, and marks them as sent.
    mutating func values(of changes: HistoryChanges) -> Values {
        var spans: [PlugID: [ClosedRange<Int64>]] = [:]
        for chunk in changes.chunks {
            let (plug, boot, first) = (chunk.stored.plug, chunk.stored.boot.bytes, chunk.stored.chunk.firstMilliseconds)
            let known = newest[plug].flatMap { $0.boot == boot && $0.first == first ? $0.chunk : nil }
            let touched = SampleSpans(chunk, known: known)
            spans[plug, default: []] += touched.spans.filter { $0.overlaps(chunk.since...chunk.until) }
            guard newest[plug].map({ $0.chunk.since <= chunk.since }) ?? (newest.count < Self.plugLimit) else {
                continue
            }
            newest[plug] = Sent(
                boot: boot, first: first,
                chunk: KnownChunk(since: chunk.since, until: chunk.until, rows: touched.rows, digest: touched.digest))
        }
        var values = Values()
        for (plug, spans) in spans {
            var samples = (changes.samples[plug] ?? [])[...]
            for span in spans.united {
                samples = samples.drop { $0.at < span.lowerBound }
                let inside = samples.prefix { $0.at <= span.upperBound }
                values.samples[plug, default: []] += inside
                samples = samples.dropFirst(inside.count)
            }
        }
        for counter in changes.counters { values.counters[counter.plug, default: []].append(counter) }
        for plug in values.counters.keys { values.counters[plug]?.sort { $0.at < $1.at } }
        return values
    }

    // MARK: File

    /// The content of the file: a line for the position, and one per plug: plug, boot, first, since, until, rows,
    /// digest.
    var bytes: [UInt8] {
        guard let position else { return [] }
        var lines = ["\(position.epoch.hexadecimal) \(position.number)"]
        for (plug, sent) in newest.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let chunk = sent.chunk
            lines.append(
                "\(plug) \(sent.boot.hexadecimal) \(sent.first) \(chunk.since) \(chunk.until) \(chunk.rows) \(chunk.digest)"
            )
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// Parses the file. A damaged line of a plug is ignored, so its values are sent again. If the first line is
    /// damaged, the whole history is sent again.
    init(_ bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
        guard let head = lines.first, head.count == 2, let epoch = [UInt8](hexadecimal: head[0]), epoch.count == 16,
            let number = Int64(head[1])
        else { return }
        position = FeedPosition(epoch: epoch, number: number)
        for line in lines.dropFirst().prefix(Self.plugLimit) where line.count == 7 {
            let numbers = line[2...].compactMap { Int64($0) }
            guard let plug = PlugID(rawValue: String(line[0])), let boot = [UInt8](hexadecimal: line[1]),
                numbers.count == 5,
                let rows = Int(exactly: numbers[3])
            else { continue }
            newest[plug] = Sent(
                boot: boot, first: numbers[0],
                chunk: KnownChunk(since: numbers[1], until: numbers[2], rows: rows, digest: numbers[4]))
        }
    }
}

extension [UInt8] {
    /// Returns the bytes, or nil if the text is not pairs of hexadecimal digits.
    init?(hexadecimal text: Substring) {
        let digits = text.compactMap { $0.hexDigitValue.map { UInt8($0) } }
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
