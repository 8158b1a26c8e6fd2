import LinuxSystem
public import PlugClient
import PlugModel

/// One line of `plugctl logs --json`. The keys are part of the contract with scripts. Keys without a value are omitted.
public struct LogRecord: Encodable, Equatable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The kind: line or lost.
    public var event: String
    /// line: the time of writing; lost: the time of the report. ISO 8601, UTC, milliseconds, on the controller's clock.
    public var at: String
    /// line: its number, which increases. It restarts at 1 when the plug's firmware restarts.
    public var number: UInt64?
    /// line: trace, debug, info, notice, warning, error, critical.
    public var level: String?
    /// line: the part of the firmware that wrote it.
    public var part: String?
    /// line: the text.
    public var message: String?
    /// lost: the number of lines that exceeded the sending rate.
    public var count: UInt64?

    /// Creates the record of a report with a log line or lost lines. Returns nil for any other report.
    public init?(_ report: PlugReport) {
        plug = report.plug
        at = report.at.iso8601()
        switch report.update {
        case .log(.line(let line)):
            event = "line"
            number = line.number
            level = line.level.rawValue
            part = line.part
            message = line.message
        case .log(.lost(let lines)):
            event = "lost"
            count = lines
        case .log(.following), .log(.refused), .log(.ended), .connected, .following, .snapshot, .state, .event, .gap,
            .disconnected:
            return nil
        }
    }

    /// Text for the user.
    public var text: String {
        guard let level, let part, let message else { return "\(localTime(at))  \(count ?? 0) lines were lost" }
        let padding = String(repeating: " ", count: max(0, 8 - level.count))
        return "\(localTime(at))  \(level)\(padding)  \(part): \(message)"
    }
}
