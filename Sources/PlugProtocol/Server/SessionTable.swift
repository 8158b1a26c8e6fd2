import PlugModel
internal import ProtocolCore

/// The open sessions in the order of their opening.
///
/// Sessions are addressed by connection and not by position, because ending one session moves the others, and any
/// message can end any session. Changes to a session that has ended have no effect.
struct SessionTable: Sendable {
    // No element is nil; the optional lets the subscript change an element in place.
    private var sessions: [ServerSession?] = []

    var count: Int { sessions.count }
    var isEmpty: Bool { sessions.isEmpty }
    /// The connections of all sessions, oldest first. Stays valid while sessions end.
    var connections: [ConnectionID] { sessions.compactMap(\.?.connection) }
    /// All sessions, oldest first.
    var all: some BidirectionalCollection<ServerSession> { sessions.lazy.compactMap { $0 } }

    /// Adds a session at the end. Its connection must not be in the table.
    mutating func append(_ session: ServerSession) {
        precondition(position(of: session.connection) == nil, "\(session.connection) was opened twice")
        sessions.append(session)
    }

    /// The session of the connection, or nil if it has ended. Setting it to nil removes the session.
    subscript(connection: ConnectionID) -> ServerSession? {
        // Yields the session in place, because a copy retains all buffers.
        _read {
            if let position = position(of: connection) { yield sessions[position] } else { yield nil }
        }
        _modify {
            guard let position = position(of: connection) else {
                var ended: ServerSession?
                yield &ended
                return
            }
            defer { if sessions[position] == nil { sessions.remove(at: position) } }
            yield &sessions[position]
        }
    }

    /// Changes every session, oldest first.
    mutating func updateAll(_ change: (inout ServerSession) -> Void) {
        for position in sessions.indices { change(&sessions[position]!) }
    }

    private func position(of connection: ConnectionID) -> Int? {
        sessions.firstIndex { $0?.connection == connection }
    }
}
