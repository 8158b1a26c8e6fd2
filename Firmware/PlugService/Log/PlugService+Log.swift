import PlugModel

/// The log, for those who follow it over a session.
extension PlugService {
    func relayLog() {
        settings.log?.attach(to: loop) { [weak self] in self?.assumeIsolated { $0.handOverLog() } }
    }

    private func handOverLog() { settings.log?.handOver { handle(.logged($0, lost: $1)) } }

    /// Whoever reads the journal sees that the log was read from elsewhere.
    func logFollowed(_ level: LogLevel?) {
        settings.log?.follow(level)
        if let level {
            logger.info("the log is followed over the network, from \(level) on")
        } else {
            logger.info("nobody follows the log any more")
        }
    }
}
