public import ProtocolCore

/// How much a line of a plug's log matters, as swift-log has it; the least first.
public enum LogLevel: String, Hashable, Comparable, Sendable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical

    /// 0 for ``trace``, rising.
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
    /// Rises from line to line; begins at 1 when the firmware starts.
    public let number: UInt64
    /// When it was written, on the plug's clock.
    public let time: Instant
    public let level: LogLevel
    /// Which part of the firmware says it, at most ``PlugWire/maximumName`` bytes.
    public let part: String
    /// At most ``PlugWire/maximumLogMessage`` bytes.
    public let message: String

    /// What is too long is cut off between two characters.
    public init(number: UInt64, time: Instant, level: LogLevel, part: String, message: String) {
        self.number = number
        self.time = time
        self.level = level
        self.part = Self.cut(part, to: PlugWire.maximumName)
        self.message = Self.cut(message, to: PlugWire.maximumLogMessage)
    }

    /// What it takes of a plug's memory, roughly: the texts, and 64 for the rest.
    package var size: Int { part.utf8.count + message.utf8.count + 64 }

    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let mark = "…"
        var end = text.utf8.index(text.startIndex, offsetBy: limit - mark.utf8.count)
        while end.samePosition(in: text) == nil { text.utf8.formIndex(before: &end) }
        return String(text[..<end]) + mark
    }
}

/// What whoever follows a plug's log is told.
public enum LogUpdate: Hashable, Sendable {
    /// The plug tells its log from this level on, for so long.
    case following(LogLevel, for: Duration)
    case line(LogLine)
    /// So many lines that belong before the next one are lost: they came faster than they could be sent.
    case lost(UInt64)
    case refused(Refusal)
    /// The time is over, or nobody wants to hear more.
    case ended
}
