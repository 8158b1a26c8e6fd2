import LinuxClocks
public import PlugClient
import PlugModel

/// One line of `plugctl logs --json`; the keys are part of the contract with scripts. A key without a value is left out.
public struct LogRecord: Encodable, Equatable, Sendable {
    /// The plug's name.
    public var plug: String
    /// line, lost.
    public var event: String
    /// line: when it was written; lost: when this was told. ISO 8601, UTC, milliseconds; the controller's clock.
    public var at: String
    /// line: its number; rises, and begins at 1 when the plug's firmware starts.
    public var number: UInt64?
    /// line: trace, debug, info, notice, warning, error, critical.
    public var level: String?
    /// line: which part of the firmware says it.
    public var part: String?
    public var message: String?
    /// lost: how many lines came faster than they could be sent.
    public var count: UInt64?

    /// Nil for a report of anything else.
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

    /// For a person.
    public var text: String {
        guard let level, let part, let message else { return "\(at)  \(count ?? 0) lines were lost here" }
        let padding = String(repeating: " ", count: max(0, 8 - level.count))
        return "\(at)  \(level)\(padding)  \(part): \(message)"
    }
}
