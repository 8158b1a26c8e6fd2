public import PlugModel

/// The event journal of a plug: first the events after the cursor, then new events, until the reader stops.
///
/// Each iteration uses its own connection, which exists as long as the iterator and reconnects automatically. If a
/// reader falls behind, its connection is no longer read, and the remaining events wait in the plug's journal.
public struct PlugEvents: AsyncSequence, Sendable {
    public typealias Element = JournalEntry
    public typealias Failure = PlugFault

    let plug: Plug
    let cursor: Cursor

    /// Begins to follow the plug for this iteration.
    public func makeAsyncIterator() -> Iterator {
        let followed = plug.client.follow(plug.name, id: plug.id, after: cursor, stateOptions: nil)
        return Iterator(id: plug.id, reports: followed.reports.makeAsyncIterator())
    }

    /// The iterator, for one reader.
    public struct Iterator: AsyncIteratorProtocol {
        let id: PlugID
        var reports: PlugReports.AsyncIterator

        /// Returns the next entry, or nil when the client is stopped.
        ///
        /// - Throws: ``PlugFault`` if the plug cannot be followed any further.
        public mutating func next() async throws(PlugFault) -> JournalEntry? {
            while let report = await reports.next() {
                try report.update.check(against: id, named: report.plug)
                switch report.update {
                case .event(let event, let age): return .event(event, age: age, at: report.at)
                case .gap(let gap): return .gap(gap)
                case .following(let sequence): return .began(after: sequence)
                case .connected, .snapshot, .state, .log, .disconnected: break
                }
            }
            return nil
        }
    }
}

/// The states of a plug: first the current one, then each newer one that arrives. Intermediate states may be skipped.
///
/// Each iteration uses its own connection, which exists as long as the iterator and reconnects automatically.
public struct PlugStates: AsyncSequence, Sendable {
    public typealias Element = PlugState
    public typealias Failure = PlugFault

    let plug: Plug
    let options: StateOptions

    /// Begins to follow the plug for this iteration.
    public func makeAsyncIterator() -> Iterator {
        let followed = plug.client.follow(plug.name, id: plug.id, after: nil, stateOptions: options)
        return Iterator(id: plug.id, reports: followed.reports.makeAsyncIterator())
    }

    /// The iterator, for one reader.
    public struct Iterator: AsyncIteratorProtocol {
        let id: PlugID
        var reports: PlugReports.AsyncIterator

        /// Returns the next state, or nil when the client is stopped.
        ///
        /// - Throws: ``PlugFault`` if the plug cannot be followed any further.
        public mutating func next() async throws(PlugFault) -> PlugState? {
            while let report = await reports.next() {
                try report.update.check(against: id, named: report.plug)
                switch report.update {
                case .snapshot(let state), .state(let state): return state
                case .connected, .following, .event, .gap, .log, .disconnected: break
                }
            }
            return nil
        }
    }
}

extension PlugUpdate {
    /// Throws if the update shows that the plug with this id cannot be followed any further.
    fileprivate func check(against id: PlugID, named name: String) throws(PlugFault) {
        switch self {
        case .connected(let plug) where plug.id != id: throw .replaced(name: name, by: plug.id)
        case .disconnected(.incompatible(let words), _): throw .incompatible(words)
        case .disconnected(.distrusted(let words), _): throw .distrusted(words)
        case .connected, .following, .snapshot, .state, .event, .gap, .log, .disconnected: break
        }
    }
}
