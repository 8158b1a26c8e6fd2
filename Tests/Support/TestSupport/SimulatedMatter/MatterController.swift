import Crypto
public import MatterSessions
public import MatterWire
public import ProtocolCore

/// A simulated controller of Matter as a value in virtual time: it commissions a device, opens sessions, and reads,
/// writes, invokes and subscribes. It consists of the message layer, the initiators of the handshakes and a client of
/// the interaction model.
///
/// The owner passes received datagrams to ``receive(_:from:now:)``, calls ``expire(now:)`` at ``nextDeadline``, and
/// sends the datagrams of ``takeOutput()``. Requests begin with ``begin(_:now:)``; their results are in
/// ``takeOutcome(of:)``.
public struct MatterController: Sendable {
    /// The longest time from the start of a request to its answer. It protects a run from a device that does not answer.
    static let answerLimit = Duration.seconds(60)

    /// A datagram and its receiver.
    public struct Datagram: Sendable {
        public var bytes: [UInt8]
        public var to: MatterPeer
    }

    /// A subscription that the device has confirmed or is about to confirm, with everything that it has reported.
    public struct Subscription: Sendable {
        public internal(set) var attributes: [AttributeReport] = []
        public internal(set) var events: [EventReport] = []
        /// The number of reports after the first one, including empty ones.
        public internal(set) var reports = 0
        public internal(set) var lastReport: Instant
    }

    /// The authority of the controller's fabric.
    public let issuer: MatterCertificateIssuer
    /// The controller's identity in its fabric.
    public let identity: CASEFabric
    /// The address of the device.
    public let device: MatterPeer
    /// The node id that the controller gives to the device.
    public let deviceNode: UInt64
    /// The code that AddNOC names as the administrator; a node id or a tag (CAT) of the fabric.
    public var administrator: UInt64
    /// The node id to which the controller opens operational sessions.
    public var deviceNodeForSessions: UInt64
    /// True if the controller sends nothing, also no acknowledgements.
    public var isSilent = false
    /// False if a new CASE handshake does not use the secret of the previous one.
    public var resumesSessions = true

    let cryptography: any MatterCryptography
    var randomness: MatterRandomness
    var messages: MessageLayer
    var output: [Datagram] = []
    var outcomes: [MatterTicket: Result<MatterOutcome, MatterControllerFault>] = [:]
    var interactions: [ExchangeID: Interaction] = [:]
    var handshakes: [ExchangeID: Handshake] = [:]
    var deadlines: [MatterTicket: Instant] = [:]
    var commissioning: Commissioning?
    /// The secret of the last CASE session, with which the next one can be resumed.
    public internal(set) var resumption: ResumptionRecord?
    /// The sessions with the device, oldest first.
    public internal(set) var sessions: [SessionContext] = []
    /// The number of sessions that the device or a failure has ended.
    public internal(set) var endedSessions = 0
    /// The number of CASE sessions that were resumed.
    public internal(set) var resumedSessions = 0
    /// The subscriptions by their ids.
    public internal(set) var subscriptions: [UInt32: Subscription] = [:]
    /// The answers to ``sendRaw(_:_:continues:now:)``.
    public internal(set) var rawAnswers: [InteractionMessage] = []
    /// The number of messages of the device that were not valid messages of the interaction model.
    public internal(set) var malformedMessages = 0
    var rawExchange: ExchangeID?
    private var lastTicket: UInt64 = 0

    /// Creates a controller. Equal seeds give equal runs.
    /// - Parameter node: the controller's own node id in the fabric of `issuer`.
    public init(
        _ issuer: MatterCertificateIssuer, node: UInt64, tags: [UInt32] = [], device: MatterPeer,
        deviceNode: UInt64 = 0x1000, seed: UInt64, cryptography: any MatterCryptography
    ) throws {
        (self.issuer, self.device, self.deviceNode, self.cryptography) = (issuer, device, deviceNode, cryptography)
        randomness = MatterRandomness(seed: Self.bytes(of: seed, for: "controller \(node)"))
        identity = try issuer.identity(node: node, tags: tags, key: randomness.signingKey())
        (administrator, deviceNodeForSessions) = (node, deviceNode)
        messages = MessageLayer(
            cryptography: cryptography,
            randomness: MatterRandomness(seed: Self.bytes(of: seed, for: "messages \(node)")))
    }

    static func bytes(of seed: UInt64, for purpose: String) -> [UInt8] {
        Array(SHA256.hash(data: Array("\(purpose), seed \(seed)".utf8)))
    }

    // MARK: The shell's side

    /// Handles a datagram.
    public mutating func receive(_ bytes: [UInt8], from peer: MatterPeer, now: Instant) {
        guard !isSilent else { return }
        handle(messages.receive(bytes, from: peer, now: now), now: now)
    }

    /// Handles deadlines: retransmissions, acknowledgements, and requests without an answer.
    public mutating func expire(now: Instant) {
        handle(messages.expire(now: now), now: now)
        for (ticket, deadline) in deadlines.sorted(by: { $0.key.number < $1.key.number }) where deadline <= now {
            finish(ticket, .failure(.unanswered), now: now)
        }
    }

    /// The time of the next deadline.
    public var nextDeadline: Instant? { sooner(messages.nextDeadline, deadlines.values.min()) }

    /// Removes and returns the datagrams to send.
    public mutating func takeOutput() -> [Datagram] {
        defer { output = [] }
        return isSilent ? [] : output
    }

    /// Removes and returns the result of a request, or nil if the request is not finished.
    public mutating func takeOutcome(of ticket: MatterTicket) -> Result<MatterOutcome, MatterControllerFault>? {
        outcomes.removeValue(forKey: ticket)
    }

    /// Returns true if a request is not finished.
    public func isPending(_ ticket: MatterTicket) -> Bool { deadlines[ticket] != nil }

    /// Forgets all sessions and unfinished requests, like a controller that was killed. The secret for a resumption is
    /// kept.
    public mutating func restart(now: Instant) {
        _ = messages.end(where: { _ in true }, notifying: false, now: now)
        messages = MessageLayer(
            cryptography: cryptography, randomness: randomness.split())
        (sessions, interactions, handshakes, deadlines) = ([], [:], [:], [:])
        (commissioning, subscriptions, output) = (nil, [:], [])
    }

    // MARK: Requests

    /// Starts a request.
    public mutating func begin(_ request: MatterControllerRequest, now: Instant) -> MatterTicket {
        lastTicket += 1
        let ticket = MatterTicket(number: lastTicket)
        deadlines[ticket] = now + Self.answerLimit
        switch request {
        case .commission(let passcode): startCommissioning(passcode, ticket, now: now)
        case .connectWithPasscode(let passcode): startPASE(passcode, ticket, now: now)
        case .connect: startCASE(ticket, now: now)
        case .read(let read): start(.read(read), nil, ticket, now: now)
        case .write(let writes, let timeout):
            let write = WriteRequest(
                suppressesResponse: false, isTimed: timeout != nil, writes: writes, hasMore: false)
            start(.write(write), timeout, ticket, now: now)
        case .invoke(let path, let fields, let timeout):
            let invoke = InvokeRequest(
                suppressesResponse: false, isTimed: timeout != nil,
                commands: [InvokeCommand(path: path, fields: fields, reference: nil)])
            start(.invoke(invoke), timeout, ticket, now: now)
        case .subscribe(let subscribe):
            if !subscribe.keepsSubscriptions { subscriptions = [:] }
            start(.subscribe(subscribe), nil, ticket, now: now)
        }
        return ticket
    }

    /// Sends a message with any content to the interaction model of the device. Answers are in ``rawAnswers``.
    /// - Parameter continues: true to use the exchange of the previous message, if it is still open.
    public mutating func sendRaw(_ opcode: UInt8, _ payload: [UInt8], continues: Bool, now: Instant) {
        guard payload.count <= MessageLayer.payloadLimit, let session else { return }
        if !continues || rawExchange == nil {
            if let old = rawExchange { handle(messages.close(old, now: now), now: now) }
            rawExchange = messages.openExchange(on: session.id)
        }
        guard let exchange = rawExchange else { return }
        let outputs = messages.send(
            MatterProtocol.interactionModel, opcode, payload, on: exchange, isLast: false, now: now)
        handle(outputs, now: now)
    }

    /// The session of the next request: the newest operational one, otherwise the newest of PASE.
    public var session: SessionContext? {
        sessions.last { $0.kind != .commissioning } ?? sessions.last
    }

    /// Ends the newest session with a close message to the device.
    public mutating func closeSession(now: Instant) {
        guard let session else { return }
        handle(messages.end(where: { $0.id == session.id }, notifying: true, now: now), now: now)
        forget(session.id, now: now)
    }

    mutating func finish(
        _ ticket: MatterTicket, _ result: Result<MatterOutcome, MatterControllerFault>, now: Instant
    ) {
        guard deadlines.removeValue(forKey: ticket) != nil else { return }
        for (exchange, interaction) in interactions where interaction.ticket == ticket {
            interactions[exchange] = nil
            handle(messages.close(exchange, now: now), now: now)
        }
        for (exchange, handshake) in handshakes where handshake.ticket == ticket {
            handshakes[exchange] = nil
            handle(messages.close(exchange, now: now), now: now)
        }
        if let commissioning, commissioning.step == ticket {
            continueCommissioning(result, now: now)
        } else {
            if commissioning?.ticket == ticket { commissioning = nil }
            outcomes[ticket] = result
        }
    }

    // MARK: The message layer's outputs

    mutating func handle(_ outputs: [MessageLayer.Output], now: Instant) {
        for item in outputs {
            switch item {
            case .send(let bytes, let peer): output.append(Datagram(bytes: bytes, to: peer))
            case .message(let message):
                if handshakes[message.exchange] != nil {
                    continueHandshake(message, now: now)
                } else if message.protocolID == MatterProtocol.interactionModel {
                    handleInteraction(message, now: now)
                }
            case .groupMessage, .acknowledged: break
            case .failed(let exchange):
                if exchange == rawExchange { rawExchange = nil }
                if let ticket = interactions[exchange]?.ticket ?? handshakes[exchange]?.ticket {
                    finish(ticket, .failure(.unanswered), now: now)
                }
            case .sessionEnded(let id): forget(id, now: now)
            }
        }
    }

    /// Forgets a session, and fails its requests.
    private mutating func forget(_ id: SessionID, now: Instant) {
        guard sessions.contains(where: { $0.id == id }) else { return }
        sessions.removeAll { $0.id == id }
        endedSessions += 1
        let failed = interactions.values.filter { $0.session == id }.map(\.ticket)
        for ticket in failed.sorted(by: { $0.number < $1.number }) {
            finish(ticket, .failure(.sessionEnded), now: now)
        }
    }
}
