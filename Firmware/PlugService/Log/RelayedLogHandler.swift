import Logging
import PlugModel

/// A log handler that writes lines at or above the configured level to the base handler. It relays these lines, and also
/// lower ones that a session has requested with FollowLog.
struct RelayedLogHandler: LogHandler {
    private var base: any LogHandler
    private let relay: LogRelay

    init(_ base: any LogHandler, to relay: LogRelay) {
        self.base = base
        self.relay = relay
    }

    /// The effective level. The setter sets the configured level; the getter may return a lower level while a session
    /// follows the log.
    var logLevel: Logger.Level {
        get { min(base.logLevel, relay.followed ?? .critical) }
        set { base.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        if event.level >= base.logLevel { base.log(event: event) }
        relay.receive(event.level.model, part: event.source, words(of: event))
    }

    private func words(of event: LogEvent) -> String {
        var words = event.message.description
        var metadata = base.metadata
        if let more = event.metadata { metadata.merge(more) { _, new in new } }
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) { words += " \(key)=\(value)" }
        if let error = event.error { words += " error=\(error)" }
        return words
    }
}

extension Logger.Level {
    fileprivate var model: LogLevel {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        case .critical: .critical
        }
    }
}
