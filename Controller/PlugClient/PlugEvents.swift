public import PlugModel

/// The journal of a plug, live: what came after the cursor first, then what happens, until the reader stops.
///
/// Each iteration follows on a connection of its own, which lives as long as its iterator and comes back by itself. A reader
/// that falls behind stops the reading from that connection: the rest waits in the plug's journal.
public struct PlugEvents: AsyncSequence, Sendable {
    public typealias Element = JournalEntry
    public typealias Failure = PlugFault

    let plug: Plug
    let cursor: Cursor

    public func makeAsyncIterator() -> Iterator {
        let followed = plug.client.follow(plug.name, id: plug.id, after: cursor, stateOptions: nil)
        return Iterator(id: plug.id, reports: followed.reports.makeAsyncIterator())
    }

    public struct Iterator: AsyncIteratorProtocol {
        let id: PlugID
        var reports: PlugReports.AsyncIterator

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

/// The states of a plug, live: first the one it is in, then each that is news; what came between two of them is left out.
///
/// Each iteration follows on a connection of its own, which lives as long as its iterator and comes back by itself.
public struct PlugStates: AsyncSequence, Sendable {
    public typealias Element = PlugState
    public typealias Failure = PlugFault

    let plug: Plug
    let options: StateOptions

    public func makeAsyncIterator() -> Iterator {
        let followed = plug.client.follow(plug.name, id: plug.id, after: nil, stateOptions: options)
        return Iterator(id: plug.id, reports: followed.reports.makeAsyncIterator())
    }

    public struct Iterator: AsyncIteratorProtocol {
        let id: PlugID
        var reports: PlugReports.AsyncIterator

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
    fileprivate func check(against id: PlugID, named name: String) throws(PlugFault) {
        switch self {
        case .connected(let plug) where plug.id != id: throw .replaced(name: name, by: plug.id)
        case .disconnected(.incompatible(let words), _): throw .incompatible(words)
        case .disconnected(.distrusted(let words), _): throw .distrusted(words)
        case .connected, .following, .snapshot, .state, .event, .gap, .log, .disconnected: break
        }
    }
}
