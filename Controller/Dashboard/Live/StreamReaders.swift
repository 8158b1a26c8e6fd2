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
        var holder = SeatHolder.local
        /// What must be valid for as long as it reads.
        var entrances: Set<String> = []
        /// It gets what is for owners only.
        var isOwner: Bool {
            if case .other = holder { false } else { true }
        }
    }

    /// Whoever takes nothing for so long is gone without a word.
    static let patience = Duration.seconds(60)

    private var readers: [UInt64: Reader] = [:]
    private var seats = Seats(.streams)

    func hasRoom(for holder: SeatHolder) -> Bool { seats.hasRoom(for: holder) }

    /// - Returns: false if there is no seat left.
    mutating func add(_ reader: Reader, as id: UInt64) -> Bool {
        guard seats.take(reader.holder) else { return false }
        readers[id] = reader
        return true
    }

    var count: Int { readers.count }

    /// A reader is added by ``add(_:as:)`` and taken away by ``remove(_:)``.
    subscript(id: UInt64) -> Reader? {
        get { readers[id] }
        _modify { yield &readers[id] }
    }

    mutating func remove(_ id: UInt64) {
        guard let reader = readers.removeValue(forKey: id) else { return }
        seats.leave(reader.holder)
        reader.waiting?.resume()
    }

    mutating func removeAll() {
        for id in Array(readers.keys) { remove(id) }
    }

    /// Ends the connections of those that came in by one of these.
    func close(of entrances: Set<String>) {
        for reader in readers.values where !reader.entrances.isDisjoint(with: entrances) { reader.close() }
    }

    /// Ends the connections of those up to that number that came in by anything else.
    func close(without entrances: Set<String>, until newest: UInt64) {
        for (id, reader) in readers where id <= newest && !reader.entrances.isSubset(of: entrances) { reader.close() }
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
