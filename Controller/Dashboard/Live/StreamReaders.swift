import ProtocolCore

/// Those who read the stream: where each is, and those among them who wait for news.
struct StreamReaders {
    struct Reader {
        /// The last message that it has; nil where the whole house comes next.
        var after: UInt64?
        var waiting: CheckedContinuation<Void, Never>?
        /// Since when what it was given last is being written.
        var writingSince: Instant?
        var isHeartbeatDue = false
        /// Ends its connection.
        let close: @Sendable () -> Void
    }

    /// Stops a page that is opened over and over from filling the memory; a house has fewer screens.
    static let limit = 64
    /// Whoever takes nothing for so long is gone without a word.
    static let patience = Duration.seconds(60)

    private var readers: [UInt64: Reader] = [:]

    var count: Int { readers.count }

    subscript(id: UInt64) -> Reader? {
        get { readers[id] }
        _modify { yield &readers[id] }
    }

    mutating func remove(_ id: UInt64) { readers.removeValue(forKey: id)?.waiting?.resume() }

    mutating func removeAll() {
        for id in Array(readers.keys) { remove(id) }
    }

    /// Ends the connections of all, by which they go.
    func closeAll() {
        for reader in readers.values { reader.close() }
    }

    mutating func wakeAll() {
        for id in Array(readers.keys) { wake(id) }
    }

    private mutating func wake(_ id: UInt64) {
        readers[id]?.waiting?.resume()
        readers[id]?.waiting = nil
    }

    /// Those who wait get a sign of life; whoever stands still for too long is ended.
    mutating func beat(now: Instant) {
        for id in Array(readers.keys) {
            if let since = readers[id]?.writingSince {
                if now - since > Self.patience { readers[id]?.close() }
            } else {
                readers[id]?.isHeartbeatDue = true
                wake(id)
            }
        }
    }
}
