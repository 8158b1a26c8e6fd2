public import PlugModel
internal import ProtocolCore

/// Limits the messages of controllers that are not owners.
///
/// A controller has one allowance for all its sessions, so that reconnecting does not give it a new one. Owners have no
/// limit, so that a daemon that catches up never waits.
struct MessageBudget: Sendable {
    private static let perController = TokenBucket(
        burst: PeerBudgets.messagesAtOnce, interval: Duration.seconds(1) / PeerBudgets.messagesPerSecond)

    private var controllers: [AuthorityID: TokenBucket] = [:]

    /// Returns the time at which the controller's next message may be read, or nil if it may be read now.
    func opening(for controller: AuthorityID, now: Instant) -> Instant? {
        guard let opening = controllers[controller]?.available(), opening > now else { return nil }
        return opening
    }

    mutating func spend(_ messages: Int, of controller: AuthorityID, now: Instant) {
        controllers[controller, default: Self.perController].spend(messages, now: now)
    }

    /// Discards the allowances of controllers that are no longer paired.
    mutating func keep(only paired: [AuthorityID]) {
        let paired = Set(paired)
        controllers = controllers.filter { paired.contains($0.key) }
    }
}

extension PlugServer {
    /// Reads messages of the sessions whose pause is over. The session that has waited longest is first, so that the
    /// sessions of a controller take turns.
    mutating func resumeReading(now: Instant, _ actions: inout [Action]) {
        let due = sessions.all.compactMap { session in
            session.pause.flatMap { $0.until <= now ? (session.connection, $0.since) : nil }
        }
        for (connection, _) in due.sorted(by: { $0.1 < $1.1 }) { readMessages(on: connection, now: now, &actions) }
    }

    /// Pauses the session if its controller has sent too many messages, and ends it if too many bytes wait. Returns
    /// true in both cases, and false if the next message may be read.
    mutating func mustWait(_ connection: ConnectionID, now: Instant, _ actions: inout [Action]) -> Bool {
        guard let session = sessions[connection], session.decoder.buffered > 0, let controller = limited(session),
            let opening = messageBudget.opening(for: controller, now: now)
        else {
            if sessions[connection]?.pause != nil { sessions[connection]?.pause = nil }
            return false
        }
        guard session.decoder.buffered <= PeerBudgets.unreadBytes else {
            let detail = "More than \(PeerBudgets.unreadBytes) bytes of this controller's messages wait to be handled."
            end(connection, Goodbye(.limit, detail), now: now, &actions)
            return true
        }
        sessions[connection]?.pause = ServerSession.Pause(until: opening, since: session.pause?.since ?? now)
        return true
    }

    /// Counts a message that was read.
    mutating func count(_ message: WireControllerMessage, of connection: ConnectionID, now: Instant) {
        guard let session = sessions[connection], let controller = limited(session) else { return }
        spend(messages: cost(of: message), of: controller, now: now)
    }

    /// Returns the session's controller if its messages are limited, or nil for owners and unpaired peers.
    private func limited(_ session: ServerSession) -> AuthorityID? {
        if case .established(let established) = session.phase {
            return established.role == .owner ? nil : established.authority
        }
        guard let controller = access.controllers[session.key], controller.role != .owner else { return nil }
        return controller.authority
    }

    private func cost(of message: WireControllerMessage) -> Int {
        switch message.kind {
        case .hello: return PeerBudgets.messagesOfHello
        case .fetchSamples: return PeerBudgets.messagesOfFetch
        case .subscribe(let wire) where wire.hasAfter && !wire.noEvents:
            let events = journal.nextSequence - min(journal.nextSequence, max(wire.after, journal.oldestSequence))
            return 1 + min(Int(events), journal.count) / PeerBudgets.pastEventsOfMessage
        default: return 1
        }
    }

    /// Returns true if messages of the session wait. The shell should then pause reading from its connection.
    public func isReadingPaused(_ connection: ConnectionID) -> Bool { sessions[connection]?.pause != nil }
}
