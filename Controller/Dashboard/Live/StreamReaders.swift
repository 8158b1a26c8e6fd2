import ProtocolCore

/// The readers of the stream: the position of each, and the readers that wait for messages.
struct StreamReaders {
    struct Reader {
        /// The number of the last message that the reader has; nil if the complete house is next.
        var after: UInt64?
        var waiting: CheckedContinuation<Void, Never>?
        /// The time when the current write began; nil while nothing is being written.
        var writingSince: Instant?
        var isHeartbeatDue = false
        /// Closes the reader's connection.
        let close: @Sendable () -> Void
        var holder = SeatHolder.local
        /// The password and session that must stay valid while the reader reads (``Authorization/entrances``).
        var entrances: Set<String> = []
        /// True if the reader also gets the messages for owners only.
        var isOwner: Bool {
            if case .other = holder { false } else { true }
        }
    }

    /// A reader that accepts no bytes for longer than this is disconnected at the next check, which runs every 15
    /// seconds.
    static let patience = Duration.seconds(60)

    private var readers: [UInt64: Reader] = [:]
    private var seats = SeatCounter(.streams)

    func hasRoom(for holder: SeatHolder) -> Bool { seats.hasRoom(for: holder) }

    /// - Returns: false if all seats are in use.
    mutating func add(_ reader: Reader, as id: UInt64) -> Bool {
        guard seats.take(reader.holder) else { return false }
        readers[id] = reader
        return true
    }

    var count: Int { readers.count }

    /// Gives access to a reader. ``add(_:as:)`` adds readers and ``remove(_:)`` removes them.
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

    /// Closes the connections that were authorized by one of these passwords or sessions.
    func close(of entrances: Set<String>) {
        for reader in readers.values where !reader.entrances.isDisjoint(with: entrances) { reader.close() }
    }

    /// Closes the connections of the readers whose password or session is not in the set. Readers with a number above
    /// `newest` are skipped.
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

    /// Schedules a heartbeat for idle readers, and disconnects readers whose write takes too long.
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
