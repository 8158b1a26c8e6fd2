public import ProtocolCore

/// The plug's side of the protocol: its event journal and all its sessions, as one value.
///
/// The shell accepts connections and reports what they receive; the appliance reports what happened and what is now. A
/// subscriber is a cursor into the journal: while its connection is not writable it waits, and nothing is queued for it.
public struct PlugServer: Machine, Sendable {
    /// What the plug says about itself in Welcome.
    public struct Identity: Hashable, Sendable {
        public var id: PlugID
        /// The service instance name, at most 63 bytes.
        public var name: String
        public var capabilities: Set<Capability>
        public var firmware: String
        /// The boot that the plug's clock, and so every `now`, belongs to.
        public var boot: BootID

        public init(id: PlugID, name: String, capabilities: Set<Capability>, firmware: String, boot: BootID) {
            self.id = id
            self.name = name
            self.capabilities = capabilities
            self.firmware = firmware
            self.boot = boot
        }
    }

    /// What the plug grants its controllers at most.
    public struct Limits: Hashable, Sendable {
        /// Sessions at the same time. A further one gets Goodbye; it stops a flood from taking all descriptors.
        public var connections = 32
        /// Bytes handed over for a connection that is not writable. Stops a peer that asks and never reads.
        public var unsentBytes = 65_536
        /// Outcomes kept to answer a repeated request. Stops the memory of commands from growing.
        public var recentOutcomes = 512
        /// Bytes of events sent to one session in one step, so that one who catches up does not delay the others.
        public var burstBytes = 32_768

        public init() {}
    }

    public enum Event: MachineEvent, Sendable {
        /// A connection was accepted. `peer` describes the other end to a person.
        case opened(ConnectionID, peer: String)
        case received(ConnectionID, [UInt8])
        /// The connection's send buffer filled up (false) or drained (true). A new connection is writable.
        case writable(ConnectionID, Bool)
        case closed(ConnectionID)
        /// The service instance name changed.
        case renamed(String)
        /// Something happened now: it gets a number and goes to the journal and to everyone who listens. It comes before
        /// the ``commandOutcome(_:_:)`` of the command that caused it.
        case record(PlugEvent.Kind)
        /// Numbers up to here stay unused, because the plug cannot rely on its storage; everyone who listens is told the gap.
        case leap(to: SequenceNumber)
        case stateChanged(PlugState)
        /// The answer to ``Action/perform(_:controller:_:deadline:)``, at once or later. Where `done` names no event, the one
        /// recorded with this request as its cause is filled in.
        case commandOutcome(RequestID, CommandOutcome)
        /// One chunk for ``Action/fetch(_:fetch:from:to:)``, at most ``PlugWire/maximumChunk`` bytes, empty where there is
        /// nothing. `next` is where the following chunk begins; nil ends the fetch.
        case samples(ConnectionID, fetch: UInt32, chunk: [UInt8], next: Instant?)
        /// Says Goodbye to all and accepts nobody any more.
        case stop
        case deadlineReached
    }

    /// Performed in order. The answer to `perform` and `fetch` may be handed over while the actions are performed.
    public enum Action: Hashable, Sendable {
        case send(ConnectionID, [UInt8])
        /// Close once what was sent before has gone out.
        case close(ConnectionID, EndReason)
        /// Carry out a command, before `deadline` or not at all. Comes once for a request id, however often it was sent.
        case perform(RequestID, controller: String, PlugCommand, deadline: Instant)
        /// Answer with the first chunk that has samples between the two plug times, both included.
        case fetch(ConnectionID, fetch: UInt32, from: Instant, to: Instant)

        fileprivate var isAsk: Bool {
            switch self {
            case .send, .close: false
            case .perform, .fetch: true
            }
        }
    }

    public internal(set) var identity: Identity
    public internal(set) var journal: EventJournal
    public internal(set) var state: PlugState
    public let limits: Limits
    /// Sessions that ended because what arrived was no frame or no message.
    public private(set) var malformedCount: UInt64 = 0
    /// In the order in which they were opened.
    var sessions: [ServerSession] = []
    var requests: RequestLedger
    var stopped = false
    /// Set while a session has more to send than one step allows.
    var continuation: Instant?

    /// - Parameters:
    ///   - journal: with the events of a life before, commands that they record are known and not carried out again.
    ///   - requests: how commands of the life before ended, oldest first; when they come again they get that answer.
    public init(
        identity: Identity, journal: EventJournal, requests finished: [FinishedRequest] = [], state: PlugState,
        limits: Limits = Limits()
    ) {
        precondition(identity.name.utf8.count <= PlugWire.maximumName, "an instance name has at most 63 bytes")
        self.identity = identity
        self.journal = journal
        self.state = state
        self.limits = limits
        requests = RequestLedger(
            recent: limits.recentOutcomes, running: limits.connections * PlugWire.requestsInFlight, journal: journal,
            finished: finished)
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .opened(let connection, let peer):
            open(connection, peer: peer, now: now, &actions)
        case .received(let connection, let bytes):
            receive(bytes, on: connection, now: now, &actions)
        case .writable(let connection, let writable):
            if let index = index(of: connection) { sessions[index].setWritable(writable) }
        case .closed(let connection):
            sessions.removeAll { $0.connection == connection }
        case .renamed(let name):
            identity.name = name
        case .record(let kind):
            record(kind, now: now)
        case .leap(let next):
            journal.leap(to: next, reason: .storageFailed)
        case .stateChanged(let state):
            self.state = state
        case .commandOutcome(let request, let outcome):
            finish(request, outcome, now: now)
        case .samples(let connection, let fetch, let chunk, let next):
            answer(fetch: fetch, on: connection, chunk: chunk, next: next)
        case .stop:
            stopped = true
            endAll(Goodbye(.stopping, "The plug stops; it may be back soon."), now: now, &actions)
        case .deadlineReached:
            break
        }
        pump(now: now, &actions)
        return asksLast(actions)
    }

    /// What is asked of the appliance comes after all that is sent: the shell may hand its answer over at once, while it
    /// performs the actions, and the answer must not overtake what was said before.
    private func asksLast(_ actions: [Action]) -> [Action] {
        guard actions.count > 1, actions.contains(where: \.isAsk) else { return actions }
        return actions.filter { !$0.isAsk } + actions.filter(\.isAsk)
    }

    public var nextDeadline: Instant? {
        sessions.reduce(continuation) { sooner($0, $1.nextDeadline(state: state)) }
    }

    /// One session as `plugd status` shows it.
    public struct Connection: Hashable, Sendable {
        public var id: ConnectionID
        public var peer: String
        /// Nil before Hello.
        public var controller: String?
        /// The last event sent; nil while the event lane is closed.
        public var cursor: SequenceNumber?
        /// The last event that the controller said took its effect.
        public var acknowledged: SequenceNumber?
    }

    public var connections: [Connection] { sessions.map(\.summary) }

    /// How the last commands ended, oldest first: what a restart must not forget.
    public var finishedRequests: [FinishedRequest] { requests.finished }

    /// Called once the state is known with which the plug goes on: the commands of the life before whose outcome a kill took,
    /// but not their event. They ended with this state.
    public mutating func settleRequests(with state: PlugState) -> [FinishedRequest] { requests.settle(with: state) }

    /// How a command ended; nil while it is being carried out, and for one that is not known (any more).
    public func outcome(of request: RequestID) -> CommandOutcome? { requests.outcome(of: request) }

    func index(of connection: ConnectionID) -> Int? { sessions.firstIndex { $0.connection == connection } }

    private mutating func record(_ kind: PlugEvent.Kind, now: Instant) {
        let event = journal.append(kind, time: now, boot: identity.boot)
        requests.note(event)
    }

    private mutating func open(_ connection: ConnectionID, peer: String, now: Instant, _ actions: inout [Action]) {
        precondition(index(of: connection) == nil, "connection \(connection.rawValue) was opened twice")
        sessions.append(ServerSession(connection: connection, peer: peer, now: now))
        let index = sessions.count - 1
        if stopped {
            end(index, Goodbye(.stopping, "The plug stops; it may be back soon."), now: now, &actions)
        } else if sessions.count > limits.connections {
            let detail = "The plug already has \(limits.connections) connections; close one of them."
            end(index, Goodbye(.limit, detail), now: now, &actions)
        }
    }

    /// Says Goodbye, closes and forgets the session.
    mutating func end(_ index: Int, _ goodbye: Goodbye, now: Instant, _ actions: inout [Action]) {
        sessions[index].say { $0.goodbye = WireGoodbye(goodbye) }
        if let bytes = sessions[index].takeOutput(now: now) { actions.append(.send(sessions[index].connection, bytes)) }
        actions.append(.close(sessions[index].connection, .ended(goodbye)))
        if goodbye.reason == .malformed { malformedCount += 1 }
        sessions.remove(at: index)
    }

    private mutating func endAll(_ goodbye: Goodbye, now: Instant, _ actions: inout [Action]) {
        while !sessions.isEmpty { end(0, goodbye, now: now, &actions) }
    }
}
