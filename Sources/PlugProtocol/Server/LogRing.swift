internal import DequeModule
import PlugModel
internal import ProtocolCore

/// The last lines of a plug's log. It serves new followers as history and current followers as their queue.
struct LogRing: Sendable {
    private var kept: Deque<LogLine> = []
    private var bytes = 0
    private let lineLimit: Int
    private let byteLimit: Int

    init(lines: Int, bytes: Int) {
        lineLimit = lines
        byteLimit = bytes
    }

    /// Appends a line and returns the evicted ones.
    mutating func append(_ line: LogLine) -> [LogLine] {
        kept.append(line)
        bytes += line.size
        var forgotten: [LogLine] = []
        while kept.count > lineLimit || bytes > byteLimit, let oldest = kept.popFirst() {
            bytes -= oldest.size
            forgotten.append(oldest)
        }
        return forgotten
    }

    func hasMore(after number: UInt64) -> Bool { kept.last.map { $0.number > number } ?? false }

    func lines(after number: UInt64) -> some Sequence<LogLine> { kept.lazy.drop { $0.number <= number } }
}

/// The position of a session in the log.
struct LogCursor: Sendable {
    var level: LogLevel
    /// The time at which the subscription ends.
    var until: Instant
    /// The number of the last examined line.
    var last: UInt64 = 0
    /// The number of lines that were evicted before they were sent, and that the controller does not know about yet.
    var lost: UInt64 = 0

    func wants(_ line: LogLine) -> Bool { line.level >= level && line.number > last }
}
