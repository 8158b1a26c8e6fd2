internal import ProtocolCore

/// The secure sessions, at most ``MessageLayer/Limits/sessions``.
struct SessionTable: Sendable {
    /// In the order in which the sessions were added, so that a run repeats exactly.
    private var sessions: [SecureSession] = []
    private var lastID: UInt16

    init(_ randomness: inout MatterRandomness) { lastID = randomness.integer() }

    var contexts: [SessionContext] { sessions.map(\.context) }

    subscript(id: UInt16) -> SecureSession? {
        get { sessions.first { $0.id == id } }
        set {
            guard let index = sessions.firstIndex(where: { $0.id == id }) else { return }
            if let newValue { sessions[index] = newValue } else { sessions.remove(at: index) }
        }
    }

    /// Returns a session id that no session has. An id is not returned again before all others, so the ids of unfinished
    /// handshakes need no record.
    mutating func reserveID() -> UInt16 {
        repeat { lastID &+= 1 } while lastID == 0 || self[lastID] != nil
        return lastID
    }

    mutating func add(_ session: SecureSession) {
        self[session.id] = nil
        sessions.append(session)
    }

    /// Returns the session to end before a session of this owner is added, or nil if the table has room.
    ///
    /// It is the least recently used session of the owner that exceeds its share the most. The shares add up to the size
    /// of the table, so an owner within its share never loses a session to another one.
    func victim(for newcomer: SecureSession.Owner) -> UInt16? {
        guard sessions.count >= MessageLayer.Limits.sessions else { return nil }
        let excess = sessions.reduce(into: [newcomer: 1 - share(of: newcomer)]) { counts, session in
            counts[session.owner, default: -share(of: session.owner)] += 1
        }
        // The newcomer's owner may exceed its share the most without having a session to end.
        let victim = sessions.min { left, right in
            let (more, less) = (excess[left.owner] ?? 0, excess[right.owner] ?? 0)
            return more == less ? left.usedAt < right.usedAt : more > less
        }
        return victim?.id
    }

    private func share(of owner: SecureSession.Owner) -> Int {
        switch owner {
        case .commissioners: MessageLayer.Limits.commissioningSessions
        case .fabric: MessageLayer.Limits.sessionsPerFabric
        }
    }
}
