public import ProtocolCore

/// The severity of a log line, in swift-log's order: the least severe first.
public enum LogLevel: String, Hashable, Comparable, Sendable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical

    /// The severity as a number: 0 for ``trace`` up to 6 for ``critical``.
    public var severity: Int {
        switch self {
        case .trace: 0
        case .debug: 1
        case .info: 2
        case .notice: 3
        case .warning: 4
        case .error: 5
        case .critical: 6
        }
    }

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.severity < right.severity }
}

/// A line of a plug's log.
public struct LogLine: Hashable, Sendable {
    /// The number of the line. The first line after a firmware start is 1.
    public let number: UInt64
    /// The time of the line on the plug's clock.
    public let time: Instant
    /// The severity of the line.
    public let level: LogLevel
    /// The part of the firmware that logged the line, at most ``PlugWire/maximumName`` bytes.
    public let part: String
    /// The text, at most ``PlugWire/maximumLogMessage`` bytes.
    public let message: String

    /// Creates a line. A text that is too long is truncated between two characters.
    public init(number: UInt64, time: Instant, level: LogLevel, part: String, message: String) {
        self.number = number
        self.time = time
        self.level = level
        self.part = Self.cut(part, to: PlugWire.maximumName)
        self.message = Self.cut(message, to: PlugWire.maximumLogMessage)
    }

    /// The approximate memory use in bytes: the texts, and 64 for the rest.
    package var size: Int { part.utf8.count + message.utf8.count + 64 }

    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let mark = "…"
        var end = text.utf8.index(text.startIndex, offsetBy: limit - mark.utf8.count)
        while end.samePosition(in: text) == nil { text.utf8.formIndex(before: &end) }
        return String(text[..<end]) + mark
    }
}

/// An update for a controller that follows a plug's log.
public enum LogUpdate: Hashable, Sendable {
    /// The plug sends lines of this level and above for this duration.
    case following(LogLevel, for: Duration)
    /// A line of the log.
    case line(LogLine)
    /// This number of lines is missing before the next one. The plug wrote them faster than it could send them.
    case lost(UInt64)
    /// The plug refused to send its log.
    case refused(Refusal)
    /// The subscription ended: its duration is over, or the controller ended it.
    case ended
}
