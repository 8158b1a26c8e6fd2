internal import DequeModule
import PlugModel
internal import ProtocolCore

/// The last lines of a plug's log: what led to now, and what waits for those who follow. Nothing else is queued for them.
struct LogRing: Sendable {
    private var kept: Deque<LogLine> = []
    private var bytes = 0
    private let lineLimit: Int
    private let byteLimit: Int

    init(lines: Int, bytes: Int) {
        lineLimit = lines
        byteLimit = bytes
    }

    /// Returns the oldest lines, for which there is no room any more.
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

/// One session in the log.
struct LogCursor: Sendable {
    var level: LogLevel
    /// When it ends by itself.
    var until: Instant
    /// The number of the last line that was looked at.
    var last: UInt64 = 0
    /// Lines that were forgotten before they could be sent, and have not been told of.
    var lost: UInt64 = 0

    func wants(_ line: LogLine) -> Bool { line.level >= level && line.number > last }
}
