internal import DequeModule
public import PlugModel
public import ProtocolCore

/// The controller's side of one connection to a plug. A new connection is a new value; what lasts longer (the cursor,
/// commands not yet answered) belongs to its owner.
public struct ControllerSession: Machine, Sendable {
    public enum Event: MachineEvent, Sendable {
        case connected
        case received([UInt8])
        /// From ``connected`` on, also before the plug answered. The newest wish wins while an earlier one is on its way.
        case subscribe(SubscriptionOptions)
        /// `deadline`: on the controller's clock; the plug carries it out before or not at all.
        case command(RequestID, PlugCommand, deadline: Instant)
        /// Every event up to this one has taken its effect.
        case acknowledge(SequenceNumber)
        /// `from`, `to`: the plug's clock, both included. Answered chunk by chunk.
        case fetchSamples(UInt32, from: Instant, to: Instant)
        /// There is reason to doubt the connection: asks for a sign of life, to be given within ``PlugWire/probeLimit``.
        case probe
        /// Whether bytes are taken from the network; they are at the start. While they are not, silence proves nothing.
        case reading(Bool)
        /// Asks who is paired.
        case listControllers
        /// Forgets the controller of this key; answered with those who remain, unless it is the asker itself.
        case removeController(fingerprint: String)
        /// Has the plug let somebody else pair with this code, once; answered by ``SessionUpdate/invited(for:)``.
        case invite(SetupCode, Grant)
        /// Asks for the open invitations, or ends one; answered by ``SessionUpdate/invitations(_:)``.
        case listInvitations
        case revokeInvitation(UInt32)
        /// Gives the controller of this key another role; answered with all of them.
        case setRole(fingerprint: String, Grant)
        /// Asks about the plug's HomeKit door, or changes it; answered by ``SessionUpdate/homeKit(_:)``.
        case manageHomeKit(HomeKitOrder)
        /// Gives the plug another setup code; answered by ``SessionUpdate/codeChanged``.
        case newCode(SetupCode)
        /// Announces the key that this controller will have, with its signature of the ``KeyAnnouncement``, and that of the key
        /// that it announced before if that is another one; answered by ``SessionUpdate/keyAccepted``.
        case announceKey(PublicKey, signature: [UInt8], pendingSignature: [UInt8])
        /// The plug's next key is stored.
        case nextKeyKept(PublicKey)
        /// Has the plug set itself back to factory state; answered by the end of the session.
        case factoryReset
        /// Has the plug tell its log from this level on, for so long, in whole seconds; zero ends it. From ``connected`` on.
        case followLog(LogLevel, for: Duration)
        /// Asks for the entries of the audit log after this number: of the newest `limit`, or of all, the oldest. One at a
        /// time, from ``connected`` on.
        case fetchAudit(after: UInt64, limit: UInt32?)
        case closed
        case stop
        case deadlineReached
    }

    /// Performed in order. Further events may be handed over while the actions are performed.
    public enum Action: Hashable, Sendable {
        case send([UInt8])
        /// Close once what was sent before has gone out.
        case close(EndReason)
        case deliver(SessionUpdate)
    }

    enum Phase: Sendable {
        case idle
        case greeting(asked: Instant)
        case established(PlugDescription)
        case ended
    }

    enum EventLane: Sendable {
        case closed
        /// The number of the next event.
        case open(expected: SequenceNumber)
    }

    struct PendingCommand: Sendable {
        let request: RequestID
        let deadline: Instant
    }

    /// What a person calls this controller; the plug shows it as the cause of its commands.
    public let name: String
    var phase = Phase.idle
    var lane = EventLane.closed
    /// The subscription that the plug has not answered yet, and the one to send after it.
    var subscribing: SubscriptionOptions?
    var wanted: SubscriptionOptions?
    /// Bounded by ``PlugWire/requestsInFlight``.
    var commands: [PendingCommand] = []
    /// Bounded by ``PlugWire/fetchesInFlight``.
    var fetches: [UInt32] = []
    /// How often it was asked who is paired, or about it, and not answered yet.
    var answersDue: UInt = 0
    /// The wish to follow the log that waits for Welcome.
    var wantedLog: (level: LogLevel, duration: Duration)?
    /// It asked for the log, and the number of the last line that came.
    var asksForLog = false
    var lastLine: UInt64 = 0
    /// After which entry of the audit log it was asked, and not answered yet.
    var auditAfter: UInt64?
    /// The question that waits for Welcome.
    var wantedAudit: (after: UInt64, limit: UInt32?)?
    var decoder = FrameDecoder()
    var output = FrameEncoder()
    /// The plug's clock against the controller's; nil before the first Welcome.
    public internal(set) var clock: ClockMapping?
    var isReading = true
    var lastReceived = Instant.zero
    /// When the sign of life was asked for that has not come yet.
    var probedAt: Instant?
    /// The last Ping, whose answer tells the plug's time.
    var lastPing: (token: UInt64, at: Instant) = (0, .zero)

    /// - Parameters:
    ///   - name: at most 63 bytes.
    ///   - clock: what an earlier session with the plug found out.
    public init(name: String, clock: ClockMapping? = nil) {
        precondition(name.utf8.count <= PlugWire.maximumName, "a controller's name has at most 63 bytes")
        self.name = name
        self.clock = clock
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch phase {
        case .idle:
            switch event {
            case .connected: greet(now: now)
            case .stop, .closed: phase = .ended
            case .deadlineReached: break
            case .received, .subscribe, .command, .acknowledge, .fetchSamples, .probe, .reading, .listControllers,
                .removeController, .invite, .setRole, .newCode, .announceKey, .nextKeyKept, .factoryReset, .followLog,
                .fetchAudit, .manageHomeKit, .listInvitations, .revokeInvitation:
                preconditionFailure("\(event) came before .connected")
            }
        case .greeting, .established:
            take(event, now: now, &actions)
        case .ended:
            // What crosses with the end of the session is of no use any more.
            return []
        }
        keepAlive(now: now, &actions)
        flush(&actions)
        return actions
    }

    public var nextDeadline: Instant? {
        switch phase {
        case .idle, .ended: nil
        case .greeting, .established:
            commands.reduce(sooner(lastPing.at + PlugWire.pingInterval, silentAt)) { sooner($0, $1.deadline) }
        }
    }

    /// When the plug's silence ends the session.
    private var silentAt: Instant? {
        guard isReading else { return nil }
        return sooner(lastReceived + PlugWire.silenceLimit, probedAt.map { $0 + PlugWire.probeLimit })
    }

    private mutating func greet(now: Instant) {
        phase = .greeting(asked: now)
        lastReceived = now
        lastPing.at = now
        var hello = WireHello()
        hello.version = PlugWire.version
        hello.controller = name
        say { $0.hello = hello }
    }

    private mutating func take(_ event: Event, now: Instant, _ actions: inout [Action]) {
        switch event {
        case .connected:
            preconditionFailure("a session belongs to one connection; make a new one")
        case .received(let bytes):
            receive(bytes, now: now, &actions)
        case .subscribe(let options):
            wanted = options
            subscribeIfFree()
        case .command(let request, let command, let deadline):
            send(command, request, deadline: deadline, now: now, &actions)
        case .acknowledge(let sequence):
            say { $0.acknowledge.sequence = sequence }
        case .fetchSamples(let fetch, let from, let to):
            send(fetch: fetch, from: from, to: to, &actions)
        case .probe:
            guard probedAt == nil else { return }
            probedAt = now
            ping(now: now)
        case .reading(let reads):
            if reads, !isReading {
                // What came meanwhile is about to be read; the plug has all its time again.
                lastReceived = now
                if probedAt != nil { probedAt = now }
            }
            isReading = reads
        case .listControllers:
            answersDue += 1
            say { $0.listControllers = WireListControllers() }
        case .removeController(let fingerprint):
            answersDue += 1
            say { $0.removeController.fingerprint = fingerprint }
        case .invite(let code, let grant):
            answersDue += 1
            say { $0.invite = WireInvite(code, grant) }
        case .setRole(let fingerprint, let grant):
            answersDue += 1
            say { $0.setRole = WireSetRole(fingerprint, grant) }
        case .newCode(let code):
            answersDue += 1
            say { $0.newCode.code = .init(code.bytes) }
        case .manageHomeKit(let order):
            answersDue += 1
            say { $0.manageHomekit = WireManageHomeKit(order) }
        case .listInvitations:
            answersDue += 1
            say { $0.listInvitations = WireListInvitations() }
        case .revokeInvitation(let number):
            answersDue += 1
            say { $0.revokeInvitation.number = number }
        case .announceKey(let key, let signature, let pendingSignature):
            answersDue += 1
            say {
                $0.announceKey.key = .init(key.bytes)
                $0.announceKey.signature = .init(signature)
                $0.announceKey.pendingSignature = .init(pendingSignature)
            }
        case .nextKeyKept(let key):
            say { $0.nextKeyKept.key = .init(key.bytes) }
        case .factoryReset:
            answersDue += 1
            say { $0.factoryReset = WireFactoryReset() }
        case .followLog(let level, let duration):
            followLog(level, for: duration, &actions)
        case .fetchAudit(let after, let limit):
            fetchAudit(after: after, limit: limit, &actions)
        case .closed:
            phase = .ended
            actions.append(.deliver(.ended(.connectionLost)))
        case .stop:
            end(Goodbye(.stopping, "The controller stops."), now: now, &actions)
        case .deadlineReached:
            break
        }
    }

    mutating func subscribeIfFree() {
        guard subscribing == nil, var options = wanted else { return }
        wanted = nil
        // An open lane goes on from where it is: asking anew would bring what is on its way a second time.
        if case .after = options.events, case .open = lane { options.events = .fromNow }
        subscribing = options
        say { $0.subscribe = WireSubscribe(options) }
    }

    private mutating func send(
        _ command: PlugCommand, _ request: RequestID, deadline: Instant, now: Instant, _ actions: inout [Action]
    ) {
        guard !commands.contains(where: { $0.request == request }) else { return }
        guard deadline > now else { return actions.append(.deliver(.commandUnanswered(request))) }
        guard commands.count < PlugWire.requestsInFlight else {
            let refusal = Refusal(.busy, "\(PlugWire.requestsInFlight) commands already wait for their answer.")
            return actions.append(.deliver(.commandFinished(request, .refused(refusal))))
        }
        commands.append(PendingCommand(request: request, deadline: deadline))
        say { $0.command = WireCommand(command, request: request, within: deadline - now) }
    }

    private mutating func send(fetch: UInt32, from: Instant, to: Instant, _ actions: inout [Action]) {
        guard fetches.count < PlugWire.fetchesInFlight, !fetches.contains(fetch), from <= to else {
            return actions.append(.deliver(.fetchRefused(fetch)))
        }
        fetches.append(fetch)
        var wire = WireFetchSamples()
        wire.fetchID = fetch
        wire.from = WireScalar.nanoseconds(from)
        wire.to = WireScalar.nanoseconds(to)
        say { $0.fetchSamples = wire }
    }

    mutating func say(_ fill: (inout WireControllerMessage) -> Void) {
        var message = WireControllerMessage()
        fill(&message)
        output.append(message)
    }

    /// Says Goodbye and closes.
    mutating func end(_ goodbye: Goodbye, now: Instant, _ actions: inout [Action]) {
        say { $0.goodbye = WireGoodbye(goodbye) }
        flush(&actions)
        phase = .ended
        actions.append(.close(.ended(goodbye)))
        actions.append(.deliver(.ended(.ended(goodbye))))
    }

    private mutating func keepAlive(now: Instant, _ actions: inout [Action]) {
        switch phase {
        case .idle, .ended: return
        case .greeting, .established: break
        }
        if let silentAt, silentAt <= now {
            let waited = probedAt == nil ? PlugWire.silenceLimit : PlugWire.probeLimit
            let detail = "Nothing was received for \(waited.components.seconds) s."
            return end(Goodbye(.silent, detail), now: now, &actions)
        }
        for command in commands where command.deadline <= now {
            actions.append(.deliver(.commandUnanswered(command.request)))
        }
        commands.removeAll { $0.deadline <= now }
        if now >= lastPing.at + PlugWire.pingInterval { ping(now: now) }
    }

    /// Also where much else is sent: the answer tells the plug's time.
    private mutating func ping(now: Instant) {
        lastPing = (lastPing.token + 1, now)
        let token = lastPing.token
        say { $0.ping.token = token }
    }

    private mutating func flush(_ actions: inout [Action]) {
        guard !output.bytes.isEmpty else { return }
        // Before what is delivered: whoever hears it may say more at once, and that must not overtake what was said before.
        actions.insert(.send(output.take()), at: 0)
    }
}
