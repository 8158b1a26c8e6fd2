public import DNSWire
public import MulticastDNS
public import ProtocolCore

/// Keeps the answers to the questions about one domain up to date with DNS Push Notifications (RFC 8765), or with
/// long-lived queries (RFC 8764) if the zone offers only these: finds the server of the zone, subscribes to the
/// questions, and reports each change.
///
/// Nothing depends on the server. The browsers poll until their question is answered here, and again from the moment
/// when the session ends. A session begins some seconds after the first question, so that a short search opens none.
///
/// The owner connects the client to a ``StubResolver``, to connections by TLS and to UDP sockets.
public struct PushClient: Machine, Sendable {
    /// The protocol below a session.
    public enum Transport: Hashable, Sendable {
        /// TLS over TCP. The shell adds and removes the length before each message.
        case tls
        /// UDP. The shell opens a new socket for each connection.
        case datagram
    }

    /// The inputs of the machine.
    public enum Event: MachineEvent, Hashable, Sendable {
        /// A browser follows this question. Several browsers may follow the same one.
        case follow(Question)
        /// A browser no longer follows this question.
        case unfollow(Question)
        /// An answer of the resolver.
        case answered(QueryID, Result<ResolvedRecords, ResolverError>)
        /// The connection is open. The security layer may still be negotiated; its failure is a disconnection.
        case connected(ExchangeID)
        /// A whole message arrived.
        case received(ExchangeID, [UInt8])
        /// The connection failed or was closed.
        case disconnected(ExchangeID)
        /// The network changed, so that a different server may be responsible.
        case networkChanged
        /// The time of ``PushClient/nextDeadline`` was reached.
        case deadlineReached
    }

    /// The outputs of the machine, performed in order.
    public enum Action: Hashable, Sendable {
        case ask(QueryID, Question)
        case cancel(QueryID)
        /// Opens a connection.
        case connect(ExchangeID, to: Peer, Transport)
        /// Sends a message over the connection.
        case send(ExchangeID, [UInt8])
        case close(ExchangeID)
        /// All records that answer a question now. The browsers need not ask it.
        case updated(Question, [Record])
        /// The records of a question are no longer up to date. The browsers poll it.
        case ended(Question)
        /// The domain has no live updates for this reason. The client tries again after a pause.
        case failed(PushFailure, again: Duration)
    }

    /// The time between the first question and the search for a server.
    static let startPause = Duration.seconds(2)
    /// The pause after a lost connection, which doubles after each further one up to `longestPause`.
    static let firstPause = Duration.seconds(10)
    static let longestPause = Duration.seconds(900)
    /// The pause after a failure that time does not mend, such as a zone without a push server.
    static let rarePause = Duration.seconds(3600)
    /// The longest pause that a server may request.
    static let longestRequestedPause = Duration.seconds(86_400)
    /// The duration of a session after which the pauses start with the shortest one again.
    static let stableTime = Duration.seconds(60)
    /// The time to wait for a connection.
    static let connectTimeout = Duration.seconds(5)

    private enum State {
        case idle
        case waiting(until: Instant)
        case searching(QueryID, PushServerSearch)
        case connecting(ExchangeID, Servers, until: Instant)
        case connected(ExchangeID, any LiveSession)
    }

    /// The servers of a zone that were not tried yet.
    private struct Servers {
        let method: LiveProtocol
        let zone: Name
        var peers: [Peer]
    }

    private var state = State.idle
    /// The followed questions, with the numbers of browsers that follow them.
    private var followers: [Question: Int] = [:]
    /// The earliest time of the next search.
    private var earliest = Instant.zero
    /// The failures since the last session that lasted for `stableTime`.
    private var failures = 0
    private var nextQuery: UInt64
    private var nextExchange: UInt64 = 0
    private var random: any RandomNumberGenerator & Sendable
    private var output: [Action] = []

    /// Creates a client without questions.
    ///
    /// - Parameters:
    ///   - firstQuery: the first of the ids that the client uses. Browsers and clients that share a resolver use
    ///     different ranges.
    ///   - random: chooses among servers of equal priority.
    public init(firstQuery: QueryID, random: any RandomNumberGenerator & Sendable) {
        nextQuery = firstQuery.rawValue
        self.random = random
    }

    /// The time of the next ``Event/deadlineReached``, or nil.
    public var nextDeadline: Instant? {
        switch state {
        case .idle, .searching: nil
        case .waiting(let until), .connecting(_, _, let until): until
        case .connected(_, let session): session.nextDeadline
        }
    }

    /// Handles an event at the time `now` and returns the actions to perform.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .follow(let question): follow(question, now: now)
        case .unfollow(let question): unfollow(question, now: now)
        case .answered(let id, let result): answered(id, result, now: now)
        case .connected(let id):
            if case .connecting(id, let servers, _) = state { open(id, servers, now: now) }
        case .received(let id, let bytes):
            if case .connected(id, _) = state {
                withSession(now: now) { session throws(PushFailure) in try session.receive(bytes, now: now) }
            }
        case .disconnected(let id): disconnected(id, now: now)
        case .networkChanged:
            endState(now: now)
            earliest = .zero
            failures = 0
            start(now: now)
        case .deadlineReached: break
        }
        runDueTimers(now: now)
        defer { output = [] }
        return output
    }

    private mutating func runDueTimers(now: Instant) {
        guard let nextDeadline, nextDeadline <= now else { return }
        switch state {
        case .idle, .searching: break
        case .waiting: search(now: now)
        case .connecting(let id, let servers, _):
            output.append(.close(id))
            connect(to: servers, now: now)
        case .connected:
            withSession(now: now) { session throws(PushFailure) in try session.runDueTimers(now: now) }
        }
    }

    private mutating func follow(_ question: Question, now: Instant) {
        followers[question, default: 0] += 1
        switch state {
        case .idle: start(now: now)
        case .connected: withSession(now: now) { session in session.follow(question, now: now) }
        case .waiting, .searching, .connecting: break
        }
    }

    private mutating func unfollow(_ question: Question, now: Instant) {
        guard let count = followers[question] else { return }
        followers[question] = count > 1 ? count - 1 : nil
        if followers.isEmpty {
            endState(now: now)
        } else if count == 1 {
            withSession(now: now) { session in session.unfollow(question, now: now) }
        }
    }

    private mutating func start(now: Instant) {
        guard !followers.isEmpty else { return }
        state = .waiting(until: max(earliest, now + Self.startPause))
    }

    /// Ends a search, a connection or a session.
    private mutating func endState(now: Instant) {
        let ended = state
        state = .idle
        switch ended {
        case .idle, .waiting: break
        case .searching(let id, _): output.append(.cancel(id))
        case .connecting(let id, _, _): output.append(.close(id))
        case .connected(let id, let session):
            if session.start + Self.stableTime <= now { failures = 0 }
            output.append(.close(id))
            // A question without followers needs no polling.
            output += session.liveQuestions.filter { followers[$0] != nil }.ordered.map(Action.ended)
        }
    }

    private mutating func fail(_ failure: PushFailure, now: Instant) {
        endState(now: now)
        let pause: Duration =
            switch failure {
            case .notOffered, .noZone, .rejected, .tooManyRecords, .malformed, .unexpectedMessage, .flood:
                Self.rarePause
            case .busy(let pause): min(max(pause, Self.firstPause), Self.longestRequestedPause)
            case .resolver, .unreachable, .closed, .noAnswer:
                min(Self.firstPause * (1 << min(failures, 7)), Self.longestPause)
            }
        failures += 1
        earliest = now + pause
        output.append(.failed(failure, again: pause))
        start(now: now)
    }

    private mutating func search(for method: LiveProtocol = .push, now: Instant) {
        guard let name = followers.keys.min(by: { $0.precedes($1) })?.name else { return }
        let search = PushServerSearch(for: name, of: method)
        ask(search.question, search)
    }

    private mutating func ask(_ question: Question, _ search: PushServerSearch) {
        let id = QueryID(rawValue: nextQuery)
        nextQuery += 1
        state = .searching(id, search)
        output.append(.ask(id, question))
    }

    private mutating func answered(
        _ id: QueryID, _ result: Result<ResolvedRecords, ResolverError>, now: Instant
    ) {
        guard case .searching(id, var search) = state else { return }
        state = .idle
        do throws(PushFailure) {
            switch try search.handle(result, random: &random) {
            case .ask(let question): ask(question, search)
            case .found(let zone, let peers):
                connect(to: Servers(method: search.method, zone: zone, peers: peers), now: now)
            }
        } catch {
            if error == .notOffered, search.method == .push {
                self.search(for: .longLivedQueries, now: now)
            } else {
                fail(error, now: now)
            }
        }
    }

    private mutating func connect(to servers: Servers, now: Instant) {
        state = .idle
        var rest = servers
        guard !rest.peers.isEmpty else { return fail(.unreachable, now: now) }
        let peer = rest.peers.removeFirst()
        let id = ExchangeID(rawValue: nextExchange)
        nextExchange += 1
        state = .connecting(id, rest, until: now + Self.connectTimeout)
        output.append(.connect(id, to: peer, servers.method.transport))
    }

    private mutating func open(_ id: ExchangeID, _ servers: Servers, now: Instant) {
        var session: any LiveSession =
            switch servers.method {
            case .push: PushSession(zone: servers.zone, now: now)
            case .longLivedQueries: LongLivedQueries(zone: servers.zone, random: random, now: now)
            }
        for question in followers.keys.ordered { session.follow(question, now: now) }
        state = .connected(id, session)
        withSession(now: now) { _ in }
    }

    private mutating func disconnected(_ id: ExchangeID, now: Instant) {
        switch state {
        case .connecting(id, let servers, _):
            output.append(.close(id))
            connect(to: servers, now: now)
        case .connected(id, _): fail(.closed, now: now)
        case .idle, .waiting, .searching, .connecting, .connected: break
        }
    }

    /// Changes the session if there is one, and performs its outputs.
    private mutating func withSession(now: Instant, _ change: (inout any LiveSession) throws(PushFailure) -> Void) {
        guard case .connected(let id, var session) = state else { return }
        // Without this, the change would copy the session's dictionaries.
        state = .idle
        var failure: PushFailure?
        do throws(PushFailure) { try change(&session) } catch { failure = error }
        for action in session.takeOutput() {
            switch action {
            case .send(let bytes): output.append(.send(id, bytes))
            case .updated(let question, let records): output.append(.updated(question, records))
            case .rejected(let question): output.append(.ended(question))
            }
        }
        state = .connected(id, session)
        if let failure { fail(failure, now: now) }
    }
}
