internal import DequeModule
public import PlugModel
public import ProtocolCore

/// The controller's side of one connection to a plug. Each connection needs a new value. State that outlives a
/// connection, such as the cursor and unanswered commands, belongs to the caller.
public struct ControllerSession: Machine, Sendable {
    /// An event of the connection, or a request of the caller.
    public enum Event: MachineEvent, Sendable {
        /// The TLS handshake is complete.
        case connected
        /// The plug sent these bytes.
        case received([UInt8])
        /// Subscribe, or change the subscription. Allowed after ``connected``, even before the plug answers. If several
        /// subscriptions are queued, only the last one is sent.
        case subscribe(SubscriptionOptions)
        /// Send a command. `deadline` is on the controller's clock. The plug executes the command before it or not at
        /// all.
        case command(RequestID, PlugCommand, deadline: Instant)
        /// Fetch samples between two times on the plug's clock, both included. The answer arrives in chunks.
        case fetchSamples(UInt32, from: Instant, to: Instant)
        /// Probe a connection that may be dead. The session ends unless the plug sends anything within
        /// ``PlugWire/probeLimit``.
        case probe
        /// True while the shell reads from the network, initially true. While the shell does not read, silence does not
        /// end the session.
        case reading(Bool)
        /// Follow the plug's log lines of this level and above, for a duration in whole seconds. Zero ends it. Allowed
        /// after ``connected``.
        case followLog(LogLevel, for: Duration)
        /// Send a request. Allowed after ``connected``.
        case request(ControllerRequest)
        /// The connection closed.
        case closed
        /// End the session with a Goodbye.
        case stop
        /// The time of ``nextDeadline`` has come.
        case deadlineReached
    }

    /// An action for the shell. Actions are performed in order. The shell may pass further events while it performs
    /// them.
    public enum Action: Hashable, Sendable {
        /// Send these bytes.
        case send([UInt8])
        /// Close the connection after all earlier bytes are sent.
        case close(EndReason)
        /// Deliver an update to the caller.
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

    /// The name of this controller in Hello. The plug's events show it after the name from pairing if the two differ.
    public let name: String
    var phase = Phase.idle
    var lane = EventLane.closed
    /// The subscription that the plug has not answered yet, or nil.
    var subscribing: SubscriptionOptions?
    /// The subscription to send after the answer to ``subscribing``.
    var wanted: SubscriptionOptions?
    /// Limited by ``PlugWire/requestsInFlight``.
    var commands: [PendingCommand] = []
    /// Limited by ``PlugWire/fetchesInFlight``.
    var fetches: [UInt32] = []
    /// The number of unanswered requests about controllers, invitations, keys, codes, HomeKit, Matter and updates,
    /// and for a factory reset.
    var answersDue: UInt = 0
    /// The log subscription to send after Welcome.
    var wantedLog: (level: LogLevel, duration: Duration)?
    /// True after a log subscription was sent.
    var asksForLog = false
    /// The number of the last log line.
    var lastLine: UInt64 = 0
    /// The number of the entry after which the unanswered audit request begins, or nil if no request is unanswered.
    var auditAfter: UInt64?
    /// The audit request to send after Welcome.
    var wantedAudit: (after: UInt64, limit: UInt32?)?
    var decoder = FrameDecoder()
    var output = FrameEncoder()
    /// The offset between the plug's clock and the controller's, or nil before the first Welcome.
    public internal(set) var clock: ClockMapping?
    var isReading = true
    var lastReceived = Instant.zero
    /// The time of the unanswered probe, or nil if none is unanswered.
    var probedAt: Instant?
    /// True while a probe is unanswered.
    public var isProbed: Bool { probedAt != nil }
    /// The last Ping. Its answer contains the plug's time.
    var lastPing: (token: UInt64, at: Instant) = (0, .zero)

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - name: the name of this controller, at most 63 bytes.
    ///   - clock: the mapping of an earlier session with the plug.
    public init(name: String, clock: ClockMapping? = nil) {
        precondition(name.utf8.count <= PlugWire.maximumName, "a controller's name has at most 63 bytes")
        self.name = name
        self.clock = clock
    }

    /// Handles an event and returns the actions that it requires.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch phase {
        case .idle:
            switch event {
            case .connected: greet(now: now)
            case .stop, .closed: phase = .ended
            case .deadlineReached: break
            case .received, .subscribe, .command, .request, .fetchSamples, .probe, .reading, .followLog:
                preconditionFailure("\(event) came before .connected")
            }
        case .greeting, .established:
            handle(event, now: now, &actions)
        case .ended:
            // Events that arrive after the end of the session are ignored.
            return []
        }
        keepAlive(now: now, &actions)
        flush(&actions)
        return actions
    }

    /// The earliest of these times: the next Ping, the deadlines of the commands, and the end because of silence. Nil
    /// before the connection and after the end.
    public var nextDeadline: Instant? {
        switch phase {
        case .idle, .ended: nil
        case .greeting, .established:
            commands.reduce(sooner(lastPing.at + PlugWire.pingInterval, silentAt)) { sooner($0, $1.deadline) }
        }
    }

    /// The time at which silence ends the session, or nil while the shell does not read.
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

    private mutating func handle(_ event: Event, now: Instant, _ actions: inout [Action]) {
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
        case .fetchSamples(let fetch, let from, let to):
            send(fetch: fetch, from: from, to: to, &actions)
        case .probe:
            guard probedAt == nil else { return }
            probedAt = now
            ping(now: now)
        case .reading(let reads):
            if reads, !isReading {
                // The bytes that arrived while the shell did not read are about to be read, so the time limits start
                // again.
                lastReceived = now
                if probedAt != nil { probedAt = now }
            }
            isReading = reads
        case .followLog(let level, let duration):
            followLog(level, for: duration, &actions)
        case .request(let request):
            send(request, &actions)
        case .closed:
            phase = .ended
            actions.append(.deliver(.ended(.connectionLost)))
        case .stop:
            end(Goodbye(.stopping, "The controller is stopping."), now: now, &actions)
        case .deadlineReached:
            break
        }
    }

    private mutating func send(_ request: ControllerRequest, _ actions: inout [Action]) {
        switch request {
        case .acknowledge(let sequence):
            say { $0.acknowledge.sequence = sequence }
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
        case .manageMatter(let order):
            answersDue += 1
            say { $0.manageMatter = WireManageMatter(order) }
        case .manageUpdate(let order):
            answersDue += 1
            say { $0.manageUpdate = WireManageUpdate(order) }
        case .manageWiFi(let order):
            answersDue += 1
            say { $0.manageWifi = WireManageWifi(order) }
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
        case .fetchAudit(let after, let limit):
            fetchAudit(after: after, limit: limit, &actions)
        }
    }

    mutating func subscribeIfFree() {
        guard subscribing == nil, var options = wanted else { return }
        wanted = nil
        // An open lane continues at its position. A new cursor would repeat events that are already on their way.
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
            let refusal = Refusal(.busy, "\(PlugWire.requestsInFlight) commands are waiting for an answer; try again.")
            return actions.append(.deliver(.commandFinished(request, .refused(refusal))))
        }
        commands.append(PendingCommand(request: request, deadline: deadline))
        // The error of the mapping must not make the plug drop a command that is in time.
        let until = clock.map { $0.plugTime(at: deadline) + $0.uncertainty(at: now) }
        say { $0.command = WireCommand(command, request: request, within: deadline - now, until: until) }
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

    /// Sends Goodbye and closes.
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

    /// Sends Ping even if other messages are sent, because the answer contains the plug's time.
    private mutating func ping(now: Instant) {
        lastPing = (lastPing.token + 1, now)
        let token = lastPing.token
        say { $0.ping.token = token }
    }

    private mutating func flush(_ actions: inout [Action]) {
        guard !output.bytes.isEmpty else { return }
        // The bytes are sent before the updates are delivered: the caller may send more during delivery, which must not
        // overtake these bytes.
        actions.insert(.send(output.take()), at: 0)
    }
}
