public import PlugModel
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
        /// The name that a person gave it. It differs from ``name`` while another host has that.
        public var givenName: String
        public var capabilities: Set<Capability>
        public var firmware: String
        /// The boot that the plug's clock, and so every `now`, belongs to.
        public var boot: BootID
        /// Its interfaces as they are now.
        public var networks: [PlugNetwork] = []
        /// The last end of its firmware that was not in order.
        public var crash: PlugCrash?
        /// What controllers may change of it, as it stands; nil where they cannot.
        public var settings: RemoteSettings?

        public init(id: PlugID, name: String, capabilities: Set<Capability>, firmware: String, boot: BootID) {
            self.id = id
            self.name = name
            givenName = name
            self.capabilities = capabilities
            self.firmware = firmware
            self.boot = boot
        }
    }

    /// What the plug grants its controllers at most.
    public struct Limits: Hashable, Sendable {
        /// Sessions at the same time. A further one gets Goodbye; it stops a flood from taking all descriptors.
        public var connections = 32
        /// Those of one controller. Stops one that fails, or means ill, from taking them all.
        public var connectionsOfController = 16
        /// Connections of keys that are not paired. Stops strangers from taking the places of those who are.
        public var strangers = 8
        /// Bytes handed over for a connection that is not writable. Stops a peer that asks and never reads.
        public var unsentBytes = 65_536
        /// Outcomes kept to answer a repeated request. Stops the memory of commands from growing.
        public var recentOutcomes = 512
        /// Bytes of events sent to one session in one step, so that one who catches up does not delay the others.
        public var burstBytes = 32_768
        /// Lines of the log that are remembered for whoever asks what led to now, and wait for those who follow; and their
        /// bytes. Stops a log that is written faster than it is read from growing.
        public var logLines = 200
        public var logBytes = 32_768

        public init() {}
    }

    public enum Event: MachineEvent, Sendable {
        /// A connection was accepted and its TLS handshake completed.
        case opened(Opening)
        case received(ConnectionID, [UInt8])
        /// The connection's send buffer filled up (false) or drained (true). A new connection is writable.
        case writable(ConnectionID, Bool)
        case closed(ConnectionID)
        /// The service instance name changed. Every session is told.
        case renamed(String)
        /// A person gave the plug this name, and it is announced under it, or under one with a number. Every session is told.
        case named(String, announcedAs: String)
        /// What controllers may change stands otherwise. Every session is told.
        case configured(RemoteSettings)
        /// The plug's interfaces stand otherwise. Whoever opens a session is told; that needs no message of its own.
        case networks([PlugNetwork])
        /// Something happened now: it gets a number and goes to the journal and to everyone who listens. It comes before
        /// the ``commandOutcome(_:_:)`` of the command that caused it. `at` is its time where it waited for its number; such
        /// events come in the order of their times.
        case record(PlugEvent.Kind, at: Instant? = nil)
        /// Numbers up to here stay unused, because the plug cannot rely on its storage; everyone who listens is told the gap.
        case leap(to: SequenceNumber)
        case stateChanged(PlugState)
        /// Somebody at the plug asks that it can be paired: its button was held for that.
        case openPairing
        /// Somebody at the plug removes the controller of this fingerprint; the last owner stays.
        case removeController(fingerprint: String)
        /// Somebody at the plug's own machine gives it another setup code; nothing where it is being changed already.
        case changeCode(SetupCode)
        /// The answer to ``Action/keepCode(_:)``; nil: flash has it.
        case codeKept(Refusal?)
        /// The plug has a next key, which is told to all.
        case nextKey(PublicKey)
        /// It has taken the place of the one before.
        case keyTurned
        /// The plug is set back to factory state, and no loss of power undoes it: says so to all and accepts nobody any more.
        case factoryReset
        /// The answer to ``Action/factoryReset`` where that cannot be.
        case resetFailed
        /// A command came through a door; answered by ``Action/answer(_:ticket:_:)``.
        case asked(DoorCommand)
        /// The answer to ``Action/perform(_:controller:_:deadline:)``, at once or later. Where `done` names no event, the one
        /// recorded with this request as its cause is filled in.
        case commandOutcome(CommandID, CommandOutcome)
        /// One chunk for ``Action/fetch(_:fetch:from:to:)``, at most ``PlugWire/maximumChunk`` bytes, empty where there is
        /// nothing. `next` is where the following chunk begins; nil ends the fetch.
        case samples(ConnectionID, fetch: UInt32, chunk: [UInt8], next: Instant?)
        /// Lines of the plug's log, in order, and how many more were written before them that nobody can tell any more. The
        /// answer to it must not be logged, or each line would cause the next.
        case logged([LogLine], lost: UInt64)
        /// The answer to ``Action/fetchAudit(_:after:limit:)``: at most ``PlugWire/auditEntriesAtOnce`` entries.
        case audit(ConnectionID, AuditPage)
        /// The answer to ``Action/manageHomeKit(_:_:)``.
        case homeKit(ConnectionID, Result<HomeKitReport, Refusal>)
        /// Says Goodbye to all and accepts nobody any more.
        case stop
        case deadlineReached
    }

    public struct Opening: Hashable, Sendable {
        public var connection: ConnectionID
        /// Describes the other end to a person.
        public var peer: String
        /// The peer's key, which TLS verified.
        public var key: PublicKey
        /// 32 bytes fit for secrets, drawn for this connection.
        public var nonce: [UInt8]

        public init(_ connection: ConnectionID, peer: String, key: PublicKey, nonce: [UInt8]) {
            precondition(nonce.count == PairingTranscript.nonceLength, "a nonce has 32 bytes")
            self.connection = connection
            self.peer = peer
            self.key = key
            self.nonce = nonce
        }
    }

    /// Performed in order. The answer to `perform` and `fetch` may be handed over while the actions are performed.
    public enum Action: Hashable, Sendable {
        case send(ConnectionID, [UInt8])
        /// How a command ended that came through a door.
        case answer(PlugDoor, ticket: UInt64, CommandOutcome)
        /// Close once what was sent before has gone out.
        case close(ConnectionID, EndReason)
        /// Carry out a command, before `deadline` or not at all. Comes once for a request, however often it was sent.
        case perform(CommandID, controller: String, PlugCommand, deadline: Instant)
        /// Answer with the first chunk that has samples between the two plug times, both included.
        case fetch(ConnectionID, fetch: UInt32, from: Instant, to: Instant)
        /// Answer with entries of the audit log after this number: of the newest `limit`, or of all, the oldest.
        case fetchAudit(ConnectionID, after: UInt64, limit: Int?)
        /// Do that at the plug's HomeKit door; answered at once or later.
        case manageHomeKit(ConnectionID, HomeKitOrder)
        /// Write who is paired where it lasts, before what is sent after it.
        case keep(PairedControllers)
        /// Write another setup code where it lasts; answered by ``Event/codeKept(_:)``. Comes again only after the answer.
        case keepCode(SetupCode)
        /// Something happened at this machine's own gate: to be answered by ``Event/record(_:)``, so that it gets its number
        /// as everything else does.
        case record(PlugEvent.Kind)
        /// The pairing window opened or closed: to be announced.
        case pairingWindow(isOpen: Bool)
        /// A controller wants the plug set back to factory state: answered by ``Event/factoryReset`` or ``Event/resetFailed``.
        case factoryReset
        /// Somebody follows the log from this level on, so everything of it is to be logged; nil: nobody does.
        case logLevel(LogLevel?)

        fileprivate var isAsk: Bool {
            switch self {
            case .send, .answer, .close, .keep, .pairingWindow, .logLevel: false
            case .perform, .fetch, .fetchAudit, .manageHomeKit, .record, .factoryReset, .keepCode: true
            }
        }
    }

    public internal(set) var identity: Identity
    public internal(set) var journal: EventJournal
    public internal(set) var state: PlugState
    public internal(set) var access: Access
    public let limits: Limits
    /// What the last event was worth noting in the audit log; the next one begins with none.
    public internal(set) var notes: [AuditNote] = []
    /// Sessions that ended because what arrived was no frame or no message.
    public private(set) var malformedCount: UInt64 = 0
    var sessions = SessionTable()
    var requests: RequestLedger
    var flashBudget = FlashBudget()
    var stopped = false
    /// Set while a session has more to send than one step allows.
    var continuation: Instant?
    private var announcedWindow = false
    /// What waits for flash.
    var codeChange: CodeChange?
    var log: LogRing
    /// What the shell was told of it last.
    var announcedLogLevel: LogLevel?
    /// Who asked for a command that is being carried out: as many as the ledger has of those.
    var askers: [CommandID: Asker] = [:]

    /// - Parameters:
    ///   - journal: with the events of a life before, commands that they record are known and not carried out again.
    ///   - requests: how commands of the life before ended, oldest first; when they come again they get that answer.
    public init(
        identity: Identity, access: Access, journal: EventJournal, requests finished: [FinishedRequest] = [],
        state: PlugState, limits: Limits = Limits()
    ) {
        precondition(identity.name.utf8.count <= PlugWire.maximumName, "an instance name has at most 63 bytes")
        self.identity = identity
        self.access = access
        self.journal = journal
        self.state = state
        self.limits = limits
        log = LogRing(lines: limits.logLines, bytes: limits.logBytes)
        requests = RequestLedger(
            recent: limits.recentOutcomes, running: limits.connections * PlugWire.requestsInFlight, journal: journal,
            finished: finished)
        requests.keep(only: access.controllers.all.map(\.authority))
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        notes = []
        switch event {
        case .opened(let opening):
            open(opening, now: now, &actions)
        case .received(let connection, let bytes):
            receive(bytes, on: connection, now: now, &actions)
        case .writable(let connection, let writable):
            sessions[connection]?.setWritable(writable)
        case .closed(let connection):
            sessions[connection] = nil
        case .renamed(let name):
            describe { $0.name = name }
        case .named(let given, let announced):
            describe {
                $0.givenName = given
                $0.name = announced
            }
        case .configured(let settings):
            describe { $0.settings = settings }
        case .networks(let networks):
            identity.networks = networks
        case .record(let kind, let time):
            record(kind, at: time ?? now, now: now)
        case .leap(let next):
            journal.leap(to: next, reason: .storageFailed)
        case .stateChanged(let state):
            self.state = state
        case .openPairing:
            access.openAtPlug(now: now)
        case .removeController(let fingerprint):
            if let known = access.controllers[fingerprint: fingerprint], !access.controllers.isLastOwner(known) {
                remove(known, by: .panel, .notPaired, now: now, &actions)
            }
        case .changeCode(let code):
            changeCode(code, &actions)
        case .codeKept(let refusal):
            endCodeChange(refusal)
        case .nextKey(let key):
            announceOwnKey(key)
        case .keyTurned:
            turnOwnKey()
        case .factoryReset:
            stopped = true
            endAll(.factoryReset, now: now, &actions)
        case .resetFailed:
            endAskersOfReset(now: now, &actions)
        case .commandOutcome(let command, let outcome):
            finish(command, outcome, &actions)
        case .asked(let command):
            take(command, now: now, &actions)
        case .samples(let connection, let fetch, let chunk, let next):
            answer(fetch: fetch, on: connection, chunk: chunk, next: next)
        case .logged(let lines, let lost):
            remember(lines, lost: lost)
        case .audit(let connection, let page): answer(audit: page, on: connection)
        case .homeKit(let connection, let report): answer(homeKit: report, on: connection)
        case .stop:
            stopped = true
            endAll(Goodbye(.stopping, "The plug stops; it may be back soon."), now: now, &actions)
        case .deadlineReached:
            break
        }
        checkProofs(now: now, &actions)
        if !stopped { passTime(now: now, &actions) }
        pump(now: now, &actions)
        announceWindow(now: now, &actions)
        announceLogLevel(&actions)
        return asksLast(actions)
    }

    /// What is asked of the appliance comes after all that is sent: the shell may hand its answer over at once, while it
    /// performs the actions, and the answer must not overtake what was said before.
    private func asksLast(_ actions: [Action]) -> [Action] {
        guard actions.count > 1, actions.contains(where: \.isAsk) else { return actions }
        return actions.filter { !$0.isAsk } + actions.filter(\.isAsk)
    }

    public var nextDeadline: Instant? {
        let window = sooner(nextProof, announcedWindow ? access.gate.closesAt : nil)
        let own = sooner(sooner(continuation, stopped ? nil : access.times.nextDeadline), window)
        return sessions.all.reduce(own) { sooner($0, $1.nextDeadline(state: state)) }
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

    public var connections: [Connection] { sessions.all.map(\.summary) }

    /// How the last commands ended, oldest first: what a restart must not forget.
    public var finishedRequests: [FinishedRequest] { requests.finished }

    /// Called once the state is known with which the plug goes on: the commands of the life before whose outcome a kill took,
    /// but not their event. They ended with this state.
    public mutating func settleRequests(with state: PlugState) -> [FinishedRequest] { requests.settle(with: state) }

    /// How a command ended; nil while it is being carried out, and for one that is not known (any more).
    public func outcome(of command: CommandID) -> CommandOutcome? { requests.outcome(of: command) }

    private mutating func record(_ kind: PlugEvent.Kind, at time: Instant, now: Instant) {
        let event = journal.append(kind, time: time, boot: identity.boot)
        requests.note(event)
        access.note(kind, now: now)
    }

    private mutating func describe(_ change: (inout Identity) -> Void) {
        let before = identity
        change(&identity)
        precondition(identity.name.utf8.count <= PlugWire.maximumName, "an instance name has at most 63 bytes")
        guard identity != before else { return }
        let wire = WireDescriptionChanged(identity)
        sessions.updateAll { if $0.isEstablished { $0.say { $0.descriptionChanged = wire } } }
    }

    private mutating func announceWindow(now: Instant, _ actions: inout [Action]) {
        let isOpen = access.gate.isOpen(at: now)
        guard isOpen != announcedWindow else { return }
        announcedWindow = isOpen
        actions.append(.pairingWindow(isOpen: isOpen))
    }

    private mutating func open(_ opening: Opening, now: Instant, _ actions: inout [Action]) {
        let connection = opening.connection
        sessions.append(ServerSession(opening, now: now))
        if stopped {
            end(connection, Goodbye(.stopping, "The plug stops; it may be back soon."), now: now, &actions)
        } else if connections(of: opening.key) > limits.connectionsOfController {
            let detail = "This controller already has \(limits.connectionsOfController) connections; close one of them."
            end(connection, Goodbye(.limit, detail), now: now, &actions)
        } else if sessions.count > limits.connections {
            makeRoom(for: opening, now: now, &actions)
        } else if sessions.all.count(where: isStranger) > limits.strangers {
            let detail = "\(limits.strangers) controllers that are not paired are connected already; try again."
            end(connection, Goodbye(.limit, detail), now: now, &actions)
        }
    }

    /// All places are taken: whoever has the most of them gives one up to a controller that would still have fewer. So none of those
    /// who are paired is kept out by the others, who may be about to be removed.
    private mutating func makeRoom(for newest: Opening, now: Instant, _ actions: inout [Action]) {
        let counts = sessions.all.reduce(into: [PublicKey: Int]()) { $0[$1.key, default: 0] += 1 }
        let own = counts[newest.key] ?? 0
        guard access.knows(newest.key), let most = counts.values.max(), most > own,
            let last = sessions.all.last(where: { counts[$0.key] == most })
        else {
            let detail = "The plug already has \(limits.connections) connections; close one of them."
            return end(newest.connection, Goodbye(.limit, detail), now: now, &actions)
        }
        let detail =
            "The plug has \(limits.connections) connections, \(most) of this controller; another one needed a place."
        end(last.connection, Goodbye(.limit, detail), now: now, &actions)
    }

    private func connections(of key: PublicKey) -> Int { sessions.all.count { $0.key == key } }

    /// Says Goodbye, closes and forgets the session.
    mutating func end(_ connection: ConnectionID, _ goodbye: Goodbye, now: Instant, _ actions: inout [Action]) {
        guard sessions[connection] != nil else { return }
        sessions[connection]?.say { $0.goodbye = WireGoodbye(goodbye) }
        if let bytes = sessions[connection]?.takeOutput(now: now) { actions.append(.send(connection, bytes)) }
        actions.append(.close(connection, .ended(goodbye)))
        if goodbye.reason == .malformed { malformedCount += 1 }
        sessions[connection] = nil
    }

    private func isStranger(_ session: ServerSession) -> Bool { !access.knows(session.key) }

    private mutating func endAll(_ goodbye: Goodbye, now: Instant, _ actions: inout [Action]) {
        for connection in sessions.connections { end(connection, goodbye, now: now, &actions) }
    }
}
