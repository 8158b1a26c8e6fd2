import Logging
import Synchronization

/// Collects all log messages, one per line.
final class CollectedLog: Sendable {
    private let lines = Mutex("")
    private let level: Logger.Level

    init(level: Logger.Level = .info) { self.level = level }

    var text: String { lines.withLock { $0 } }

    var handler: any LogHandler { Handler(log: self, logLevel: level) }

    private struct Handler: LogHandler {
        let log: CollectedLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { log.lines.withLock { $0 += "\(event.message)\n" } }
    }
}
