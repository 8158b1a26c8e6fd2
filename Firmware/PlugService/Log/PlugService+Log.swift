import PlugModel

/// Serves the log to sessions that follow it.
extension PlugService {
    func relayLog() {
        settings.log?.attach(to: loop) { [weak self] in self?.assumeIsolated { $0.handOverLog() } }
    }

    private func handOverLog() { settings.log?.handOver { handle(.server(.logged($0, lost: $1))) } }

    /// Logs the access, so that readers of the system journal know that the log was read over the network.
    func logFollowed(_ level: LogLevel?) {
        settings.log?.follow(level)
        if let level {
            logger.info("a client follows the log over the network, at level \(level)")
        } else {
            logger.info("no client follows the log")
        }
    }
}
