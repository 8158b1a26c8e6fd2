public import PlugModel
public import ProtocolCore

/// The plug's side of the protocol: the event journal and all sessions, as one value.
///
/// The shell reports connections and their bytes; the appliance reports events and states. A subscriber is a cursor
/// into the journal: while its connection is not writable, the subscriber waits and no events are queued for it.
public struct PlugServer: Machine, Sendable {
    /// The plug's description in Welcome.
    public struct Identity: Hashable, Sendable {
        /// The permanent identifier of the plug.
        public var id: PlugID
        /// The service instance name, at most 63 bytes.
        public var name: String
        /// The name that a user gave the plug. While another host uses this name, ``name`` has an additional number.
        public var givenName: String
        /// The capabilities of the plug.
        public var capabilities: Set<Capability>
        /// The version of the firmware.
        public var firmware: String
        /// The boot that the plug's clock and every `now` belong to.
        public var boot: BootID
        /// The current network interfaces.
        public var networks: [PlugNetwork] = []
        /// The results of mapping the plug's port at its router.
        public var reachability: [Reachability] = []
        /// The registration in a domain, or nil without one.
        public var registration: DomainRegistration?
        /// The last crash of the firmware, or nil if none is known.
        public var crash: PlugCrash?
        /// The settings that controllers can change, or nil without that capability.
        public var settings: RemoteSettings?

        /// Creates a description. The given name equals the name.
        public init(id: PlugID, name: String, capabilities: Set<Capability>, firmware: String, boot: BootID) {
            self.id = id
            self.name = name
            givenName = name
            self.capabilities = capabilities
            self.firmware = firmware
            self.boot = boot
        }
    }

    /// The limits on the resources that controllers can use.
    public struct Limits: Hashable, Sendable {
        /// The maximum number of concurrent sessions. The limit keeps a flood of connections from using all
        /// descriptors.
        public var connections = 32
        /// The maximum number of sessions per controller. The limit keeps a faulty or malicious controller from using
        /// all sessions.
        public var connectionsOfController = 16
        /// The maximum number of sessions with unpaired keys. The limit keeps strangers from using up the sessions that
        /// paired controllers need.
        public var strangers = 8
        /// The maximum number of bytes that are passed to a connection that is not writable. The limit stops a peer
        /// that sends requests and reads no answers.
        public var unsentBytes = 65_536
        /// The maximum number of outcomes that are stored for repeated requests. It limits the memory of commands.
        public var recentOutcomes = 512
        /// The number of bytes after which one call of ``handle(_:now:)`` sends no further journal events to a session.
        /// So a session that catches up does not delay the other sessions.
        public var burstBytes = 32_768
        /// The maximum number of stored log lines: the history for new followers and the queue of current ones.
        public var logLines = 200
        /// The maximum size of the stored log lines in bytes.
        public var logBytes = 32_768

        /// Creates the default limits.
        public init() {}
    }

    /// An event of a connection, of a door, of the log or of the plug's local panel. The appliance does not use it.
    public enum ShellEvent: Sendable {
        /// A connection was accepted and its TLS handshake completed.
        case opened(Opening)
        case received(ConnectionID, [UInt8])
        /// The connection's send buffer became full (false) or has room again (true). A new connection is writable.
        case writable(ConnectionID, Bool)
        case closed(ConnectionID)
        /// New log lines, in order, and the number of lines before them that are lost. The shell must not log while it
        /// performs the resulting actions, or each line would cause another one.
        case logged([LogLine], lost: UInt64)
        /// A door received a command. Answered by ``ShellAction/answer(_:ticket:_:)``.
        case asked(DoorCommand)
        /// The answer to ``ShellAction/manageHomeKit(_:_:)``.
        case homeKit(ConnectionID, Result<HomeKitReport, Refusal>)
        /// The answer to ``ShellAction/manageMatter(_:_:)``.
        case matter(ConnectionID, Result<MatterReport, Refusal>)
        /// The answer to ``ShellAction/manageUpdate(_:_:)``.
        case update(ConnectionID, Result<UpdateReport, Refusal>)
        /// The answer to ``ShellAction/manageWiFi(_:_:)``.
        case wiFi(ConnectionID, Result<WiFiReport, Refusal>)
        /// The plug's local panel removes a controller. Ignored for the last owner.
        case removeController(fingerprint: String)
        /// The plug's local panel replaces the setup code. Ignored while another change is in progress.
        /// ``PlugServer/codeInWriting`` is the code until flash answers.
        case changeCode(SetupCode)
        /// The plug has drawn its next key. Every session is informed.
        case nextKey(PublicKey)
        /// The next key has replaced the current one.
        case keyTurned
    }

    /// An event of the shell or of the appliance.
    public enum Event: MachineEvent, Sendable {
        /// An event that the appliance does not use.
        case shell(ShellEvent)
        /// The service instance name changed. Every session is informed.
        case renamed(String)
        /// A user renamed the plug; the announced name may have a number appended. Every session is informed.
        case named(String, announcedAs: String)
        /// A setting that controllers can change has changed. Every session is informed.
        case configured(RemoteSettings)
        /// The network interfaces changed. Only Welcome contains them, so open sessions are not informed.
        case networks([PlugNetwork])
        /// The results of mapping the port changed. Only Welcome contains them, so open sessions are not informed.
        case reachability([Reachability])
        /// The registration in a domain changed. As for ``reachability(_:)``, open sessions are not informed.
        case registration(DomainRegistration?)
        /// An event happened; the journal numbers and delivers it. It precedes the ``commandOutcome(_:_:)`` of its
        /// command. `at` is the time of a delayed event; such events arrive in the order of their times.
        case record(PlugEvent.Kind, at: Instant? = nil)
        /// Skip all numbers below `to`, because the plug cannot rely on its storage. Subscribers receive a gap.
        case leap(to: SequenceNumber)
        /// The state of the appliance changed.
        case stateChanged(PlugState)
        /// A person held the plug's button to open the pairing window.
        case openPairing
        /// The answer to ``Action/keepCode(_:)``. Nil if flash contains the code.
        case codeKept(Refusal?)
        /// The factory reset is in flash. All sessions end and no new ones are accepted.
        case factoryReset
        /// The answer to ``Action/factoryReset`` if the reset failed.
        case resetFailed
        /// The answer to ``Action/perform(_:controller:_:deadline:)``, immediately or later. If `done` has no event,
        /// the server fills in the event that was recorded with this request as its cause.
        case commandOutcome(CommandID, CommandOutcome)
        /// A chunk for ``Action/fetch(_:fetch:from:to:)``, at most ``PlugWire/maximumChunk`` bytes, empty if there are
        /// no samples. `next` is the start of the next chunk; nil ends the fetch.
        case samples(ConnectionID, fetch: UInt32, chunk: [UInt8], next: Instant?)
        /// The answer to ``Action/fetchAudit(_:after:limit:)``: at most ``PlugWire/auditEntriesAtOnce`` entries.
        case audit(ConnectionID, AuditPage)
        /// Send Goodbye to all sessions and accept no new ones.
        case stop
        case deadlineReached
    }

    /// A new connection.
    public struct Opening: Hashable, Sendable {
        /// The identifier of the connection.
        public var connection: ConnectionID
        /// The other end of the connection, as text for a user.
        public var peer: String
        /// The key that TLS verified.
        public var key: PublicKey
        /// 32 bytes from a generator that is suitable for secrets, drawn for this connection.
        public var nonce: [UInt8]
        /// False if the other end is in another network. It then cannot pair.
        public var isLocal: Bool

        /// Creates an opening. The nonce must have 32 bytes.
        public init(_ connection: ConnectionID, peer: String, key: PublicKey, nonce: [UInt8], isLocal: Bool = true) {
            precondition(nonce.count == PairingTranscript.nonceLength, "a nonce has 32 bytes")
            self.connection = connection
            self.peer = peer
            self.key = key
            self.nonce = nonce
            self.isLocal = isLocal
        }
    }

    /// An action that the shell performs without the appliance.
    public enum ShellAction: Hashable, Sendable {
        case send(ConnectionID, [UInt8])
        /// Close the connection after all earlier bytes are sent.
        case close(ConnectionID, EndReason)
        /// The outcome of a door's command.
        case answer(PlugDoor, ticket: UInt64, CommandOutcome)
        /// Perform a request at the plug's HomeKit server. Answered immediately or later by
        /// ``ShellEvent/homeKit(_:_:)``.
        case manageHomeKit(ConnectionID, HomeKitRequest)
        /// Perform a request at the plug's Matter device. Answered immediately or later by ``ShellEvent/matter(_:_:)``.
        case manageMatter(ConnectionID, MatterRequest)
        /// Perform a request about updates. Answered immediately or later by ``ShellEvent/update(_:_:)``.
        case manageUpdate(ConnectionID, UpdateRequest)
        /// Perform a request about Wi-Fi. Answered immediately or later by ``ShellEvent/wiFi(_:_:)``.
        case manageWiFi(ConnectionID, WiFiRequest)
        /// The pairing window opened or closed, or a person at the plug opened the open window again. The shell
        /// announces it.
        case pairingWindow(isOpen: Bool)
        /// The lowest level that any session follows. The shell must pass lines of this level and above as
        /// ``ShellEvent/logged(_:lost:)``. Nil if no session follows the log.
        case logLevel(LogLevel?)
    }

    /// An action for the shell or the appliance. Actions are performed in order. The caller may pass the answers to
    /// `perform` and `fetch` while it performs the actions.
    public enum Action: Hashable, Sendable {
        /// An action that does not involve the appliance.
        case shell(ShellAction)
        /// Execute a command before `deadline` or not at all. Sent once per request, even if the request is repeated.
        case perform(CommandID, controller: String, PlugCommand, deadline: Instant)
        /// Answer with the first chunk that has samples between two plug times, both included.
        case fetch(ConnectionID, fetch: UInt32, from: Instant, to: Instant)
        /// Answer with the oldest audit entries after this number. With `limit`, only the newest `limit` entries of the
        /// log count.
        case fetchAudit(ConnectionID, after: UInt64, limit: Int?)
        /// Write the paired controllers to flash before the bytes that follow this action are sent.
        case keep(PairedControllers)
        /// Write a new setup code to flash; answered by ``Event/codeKept(_:)``. Sent again only after the answer.
        case keepCode(SetupCode)
        /// Record an event of pairing or access. Answered by ``Event/record(_:at:)``; the journal then gives the event
        /// a number.
        case record(PlugEvent.Kind)
        /// A controller requests a factory reset. Answered by ``Event/factoryReset`` or ``Event/resetFailed``.
        case factoryReset

        fileprivate var isAsk: Bool {
            switch self {
            case .shell(.manageHomeKit), .shell(.manageMatter), .shell(.manageUpdate), .shell(.manageWiFi): true
            case .shell, .keep: false
            case .perform, .fetch, .fetchAudit, .record, .factoryReset, .keepCode: true
            }
        }
    }

    /// The current description of the plug.
    public private(set) var identity: Identity
    /// The events, also those that subscribers have not read.
    public private(set) var journal: EventJournal
    /// The last reported state of the appliance.
    public private(set) var state: PlugState
    /// The keys, codes and paired controllers.
    public internal(set) var access: Access
    /// The limits on the resources that controllers can use.
    public let limits: Limits
    /// The audit notes of the last handled event.
    public private(set) var notes: [AuditNote] = []
    /// The number of sessions that ended because of an invalid frame or message.
    public private(set) var malformedCount: UInt64 = 0
    var sessions = SessionTable()
    private var requests: RequestLedger
    /// The actors of running commands. Limited by the ledger's number of running commands.
    private var askers: [CommandID: Asker] = [:]
    private var flashBudget = FlashBudget()
    private(set) var messageBudget = MessageBudget()
    private var stopped = false
    /// The time of the next call, set while a session has more to send than one call of ``handle(_:now:)`` permits.
    private var continuation: Instant?
    private var announcedWindow = false
    /// The change of the setup code that is waiting for flash, or nil.
    private(set) var codeChange: CodeChange?
    private(set) var log: LogRing
    /// The last log level that was passed to the shell. Nil means that no session followed the log.
    private var announcedLogLevel: LogLevel?

    /// Creates a server when the firmware starts.
    ///
    /// - Parameters:
    ///   - journal: the commands that its events name count as executed, so a repeated request does not execute them
    ///     again.
    ///   - requests: the outcomes of a previous run's commands, oldest first; a repeated request gets the stored one.
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
        case .shell(let event):
            handle(event, now: now, &actions)
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
        case .reachability(let reachability):
            identity.reachability = reachability
        case .registration(let registration):
            identity.registration = registration
        case .record(let kind, let time):
            record(kind, at: time ?? now, now: now)
        case .leap(let next):
            journal.leap(to: next, reason: .storageFailed)
        case .stateChanged(let state):
            self.state = state
        case .openPairing:
            access.openAtPlug(now: now)
            // The shell also opens those of other doors, which may be closed while this window is open.
            announcedWindow = false
        case .codeKept(let refusal):
            endCodeChange(refusal)
        case .factoryReset:
            stopped = true
            endAll(.factoryReset, now: now, &actions)
        case .resetFailed:
            endAskersOfReset(now: now, &actions)
        case .commandOutcome(let command, let outcome):
            finish(command, outcome, &actions)
        case .samples(let connection, let fetch, let chunk, let next):
            answer(fetch: fetch, on: connection, chunk: chunk, next: next)
        case .audit(let connection, let page): answer(audit: page, on: connection)
        case .stop:
            stopped = true
            endAll(Goodbye(.stopping, "The plug is stopping; it may return soon."), now: now, &actions)
        case .deadlineReached:
            resumeReading(now: now, &actions)
        }
        checkProofs(now: now, &actions)
        if !stopped { passTime(now: now, &actions) }
        continuation = nil
        pump(now: now, &actions)
        announceWindow(now: now, &actions)
        announceLogLevel(&actions)
        return asksLast(actions)
    }

    private mutating func handle(_ event: ShellEvent, now: Instant, _ actions: inout [Action]) {
        switch event {
        case .opened(let opening):
            open(opening, now: now, &actions)
        case .received(let connection, let bytes):
            receive(bytes, on: connection, now: now, &actions)
        case .writable(let connection, let writable):
            sessions[connection]?.setWritable(writable)
        case .closed(let connection):
            sessions[connection] = nil
        case .logged(let lines, let lost):
            remember(lines, lost: lost)
        case .asked(let command):
            handle(command, now: now, &actions)
        case .homeKit(let connection, let report): answer(homeKit: report, on: connection)
        case .matter(let connection, let report): answer(matter: report, on: connection)
        case .update(let connection, let report): answer(update: report, on: connection)
        case .wiFi(let connection, let report): answer(wiFi: report, on: connection)
        case .removeController(let fingerprint):
            if let known = access.controllers[fingerprint: fingerprint], !access.controllers.isLastOwner(known) {
                remove(known, by: .panel, .notPaired, now: now, &actions)
            }
        case .changeCode(let code):
            changeCode(code, &actions)
        case .nextKey(let key):
            announceOwnKey(key)
        case .keyTurned:
            rotateOwnKey()
        }
    }

    /// Moves the actions that have an answer behind all other actions. The caller may answer an action immediately, and
    /// the server's reaction must be sent after all earlier messages.
    private func asksLast(_ actions: [Action]) -> [Action] {
        guard actions.count > 1, actions.contains(where: \.isAsk) else { return actions }
        return actions.filter { !$0.isAsk } + actions.filter(\.isAsk)
    }

    public var nextDeadline: Instant? {
        let window = sooner(nextProof, announcedWindow ? access.gate.closesAt : nil)
        let own = sooner(sooner(continuation, stopped ? nil : access.times.nextDeadline), window)
        return sessions.all.reduce(own) { sooner($0, $1.nextDeadline(state: state)) }
    }

    /// A session, as `plugd status` shows it.
    public struct Connection: Hashable, Sendable {
        /// The identifier of the connection.
        public var id: ConnectionID
        /// The other end of the connection, as text for a user.
        public var peer: String
        /// The controller's name in events, or nil before Hello.
        public var controller: String?
        /// The number of the last sent event, or nil while the event lane is closed.
        public var cursor: SequenceNumber?
        /// The last event that the controller acknowledged in this session, or nil if it has acknowledged none.
        public var acknowledged: SequenceNumber?
    }

    /// All sessions, oldest first.
    public var connections: [Connection] { sessions.all.map(\.summary) }

    /// The outcomes of the last commands, oldest first. They must survive a restart.
    public var finishedRequests: [FinishedRequest] { requests.finished }

    /// Completes the commands of a previous run whose event survived a crash but whose outcome was lost. Called when
    /// the initial state is known; this state becomes their outcome.
    public mutating func settleRequests(with state: PlugState) -> [FinishedRequest] { requests.settle(with: state) }

    /// Returns the actor of a command that is being executed, or nil for any other command.
    public func asker(of command: CommandID) -> AuditActor? { askers[command]?.actor }

    /// Returns the outcome of a command, or nil if it is running or not in the ledger.
    public func outcome(of command: CommandID) -> CommandOutcome? { requests.outcome(of: command) }

    /// Looks a command up in the ledger. A new command begins to run.
    ///
    /// - Parameter mayWait: true if the origin may wait for one more outcome.
    mutating func admit(
        _ command: CommandID, of asker: Asker, from waiter: RequestLedger.Waiter, mayWait: Bool, isLate: Bool
    ) -> RequestLedger.Admission {
        var answered = state
        answered.sleepers = []
        let admission = requests.admit(
            command, from: waiter, mayWait: mayWait, isLate: isLate, state: answered)
        if case .new = admission { askers[command] = asker }
        return admission
    }

    /// Ends a running command. Returns its outcome, the origins that wait for it, and its actor; nil if the command is
    /// not running.
    mutating func endCommand(
        _ command: CommandID, _ outcome: CommandOutcome
    ) -> (outcome: CommandOutcome, waiting: [RequestLedger.Waiter], asker: Asker?)? {
        guard let (outcome, waiting) = requests.finish(command, outcome) else { return nil }
        return (outcome, waiting, askers.removeValue(forKey: command))
    }

    /// Consumes writes from a controller's budget. Returns false and consumes nothing if the budget does not permit the
    /// writes.
    mutating func spend(writes: Int, of controller: PairedControllers.Controller, now: Instant) -> Bool {
        flashBudget.spend(writes, of: controller.authority, controller.role, now: now)
    }

    /// Consumes messages from a controller's budget.
    mutating func spend(messages: Int, of controller: AuthorityID, now: Instant) {
        messageBudget.spend(messages, of: controller, now: now)
    }

    /// Discards the outcomes and budgets of controllers that are no longer paired.
    mutating func forgetRemovedControllers() {
        let paired = access.controllers.all.map(\.authority)
        requests.keep(only: paired)
        flashBudget.keep(only: paired)
        messageBudget.keep(only: paired)
    }

    /// Begins a change of the setup code, which waits for flash.
    mutating func begin(_ change: CodeChange, _ actions: inout [Action]) {
        codeChange = change
        actions.append(.keepCode(change.code))
    }

    /// Ends the change of the setup code and returns it, or nil if none is in progress.
    mutating func takeCodeChange() -> CodeChange? { codeChange.take() }

    /// Adds a line to the log and returns the lines that it evicts.
    mutating func appendToLog(_ line: LogLine) -> [LogLine] { log.append(line) }

    /// Requests another call of ``handle(_:now:)``, because a session has more to send than one call permits.
    mutating func continueSending(at now: Instant) { continuation = now }

    /// Adds a note for the audit log.
    mutating func add(_ note: AuditNote) { notes.append(note) }

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
        actions.append(.shell(.pairingWindow(isOpen: isOpen)))
    }

    /// Notifies the shell if the lowest level that any session follows has changed. The level is nil if no session
    /// follows the log.
    private mutating func announceLogLevel(_ actions: inout [Action]) {
        let level = sessions.all.compactMap { $0.log?.level }.min()
        guard level != announcedLogLevel else { return }
        announcedLogLevel = level
        actions.append(.shell(.logLevel(level)))
    }

    private mutating func open(_ opening: Opening, now: Instant, _ actions: inout [Action]) {
        let connection = opening.connection
        sessions.append(ServerSession(opening, now: now))
        if stopped {
            end(connection, Goodbye(.stopping, "The plug is stopping; it may return soon."), now: now, &actions)
        } else if connections(of: opening.key) > limits.connectionsOfController {
            let detail = "This controller already has \(limits.connectionsOfController) connections; close one."
            end(connection, Goodbye(.limit, detail), now: now, &actions)
        } else if sessions.count > limits.connections {
            makeRoom(for: opening, now: now, &actions)
        } else if sessions.all.count(where: isStranger) > limits.strangers {
            let detail = "\(limits.strangers) unpaired controllers are already connected; try again."
            end(connection, Goodbye(.limit, detail), now: now, &actions)
        }
    }

    /// Ends the newest session of the controller with the most sessions, if the new connection's controller is paired
    /// and has fewer. Otherwise ends the new connection.
    private mutating func makeRoom(for newest: Opening, now: Instant, _ actions: inout [Action]) {
        let counts = sessions.all.reduce(into: [PublicKey: Int]()) { $0[$1.key, default: 0] += 1 }
        let own = counts[newest.key] ?? 0
        guard access.knows(newest.key), let most = counts.values.max(), most > own,
            let last = sessions.all.last(where: { counts[$0.key] == most })
        else {
            let detail = "The plug already has \(limits.connections) connections; close one."
            return end(newest.connection, Goodbye(.limit, detail), now: now, &actions)
        }
        let detail =
            "The plug has \(limits.connections) connections, \(most) from this controller; a different controller needed one."
        end(last.connection, Goodbye(.limit, detail), now: now, &actions)
    }

    private func connections(of key: PublicKey) -> Int { sessions.all.count { $0.key == key } }

    /// Sends Goodbye, closes the connection and removes the session.
    mutating func end(_ connection: ConnectionID, _ goodbye: Goodbye, now: Instant, _ actions: inout [Action]) {
        guard sessions[connection] != nil else { return }
        sessions[connection]?.say { $0.goodbye = WireGoodbye(goodbye) }
        if let bytes = sessions[connection]?.takeOutput(now: now) { actions.append(.shell(.send(connection, bytes))) }
        actions.append(.shell(.close(connection, .ended(goodbye))))
        if goodbye.reason == .malformed { malformedCount += 1 }
        sessions[connection] = nil
    }

    private func isStranger(_ session: ServerSession) -> Bool { !access.knows(session.key) }

    private mutating func endAll(_ goodbye: Goodbye, now: Instant, _ actions: inout [Action]) {
        for connection in sessions.connections { end(connection, goodbye, now: now, &actions) }
    }
}
