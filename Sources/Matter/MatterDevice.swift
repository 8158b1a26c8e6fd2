public import MatterSessions
internal import MatterWire
public import ProtocolCore

/// A Matter device: all messages, sessions, interactions and the node's data.
///
/// The shell delivers datagrams and performs actions. ``Action/ask(_:_:from:)`` passes commands of controllers to the
/// plug, which reports its state with ``Event/looked(_:)``. Answers that promise that something is stored wait until
/// ``Action/store(_:)`` has succeeded.
public struct MatterDevice: Machine, Sendable {
    /// A message that causes effects.
    struct Cause: Sendable {
        var exchange: ExchangeID
        var session: SessionID
    }

    /// A session that ends when the answer on the exchange is acknowledged, or at the deadline.
    struct Ending: Sendable {
        var exchange: ExchangeID
        var deadline: Instant
    }

    /// The time after which a session ends even if its last answer was not acknowledged.
    private static let endingTime = Duration.seconds(5)

    let configuration: Configuration
    let cryptography: any MatterCryptography
    var messages: MessageLayer
    var server: InteractionServer<MatterNode>
    var randomness: MatterRandomness
    var handshakes = Handshakes()
    private var records = RecordStorage()
    /// The secure sessions. The message layer limits their number.
    private(set) var sessions: [SessionID: SessionContext] = [:]
    /// The fabrics that commissioners added in their sessions.
    private var addedFabrics: [SessionID: UInt8] = [:]
    private var endings: [SessionID: Ending] = [:]
    /// The multicast addresses of groups whose datagrams the shell receives.
    private var joined: Set<[UInt8]> = []

    /// Creates a device without sessions.
    ///
    /// - Parameter seed: at least 32 random bytes from a secure generator, which nothing else may use.
    public init(
        _ configuration: Configuration, records: MatterRecords, cryptography: any MatterCryptography, seed: [UInt8]
    ) {
        (self.configuration, self.cryptography) = (configuration, cryptography)
        var randomness = MatterRandomness(seed: seed)
        messages = MessageLayer(cryptography: cryptography, randomness: randomness.split())
        let node = MatterNode(configuration, records: records, seed: randomness.bytes(MatterRandomness.seedLength))
        server = InteractionServer(node, seed: randomness.integer())
        self.randomness = randomness
    }

    /// The services to announce. They change with ``Action/announce``.
    public var announcements: [MatterAnnouncement] { server.node.announcements }

    /// The fabrics of the device.
    public var fabrics: [MatterFabricSummary] {
        let owners = sessions.values.compactMap { session -> UInt8? in
            guard case .operational(let peer)? = session.kind else { return nil }
            return peer.fabric
        }
        return server.node.summaries.map { summary in
            var summary = summary
            summary.sessions = owners.count { $0 == summary.index }
            return summary
        }
    }

    /// The commissioning window: its end, or nil if it is closed; and true if a controller opened it with its own
    /// passcode.
    public var window: (opensUntil: Instant?, isEnhanced: Bool) { server.node.window }

    /// True while an ``Action/store(_:)`` has no answer.
    public var isStoring: Bool { records.isStoring }

    public var nextDeadline: Instant? {
        let parts = [messages.nextDeadline, server.nextDeadline, server.node.nextDeadline, records.retryAt]
        return endings.values.reduce(parts.reduce(nil, sooner)) { sooner($0, $1.deadline) }
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .started:
            server.node.expire(now: now)
            followGroups(&actions)
        case .received(let datagram, let peer):
            perform(messages.receive(datagram, from: peer, now: now), now, &actions)
        case .looked(let values): server.node.look(values, now: now)
        case .pressed(let press, let number): server.node.press(press, number: number, now: now)
        case .answered(let ticket, let code):
            server.answered(ticket, server.node.answered(ticket, code))
        case .stored(let isStored): stored(isStored, now, &actions)
        case .opened(let length) where length > .zero:
            handshakes.tries = 0
            server.node.openWindow(length, now: now)
        case .opened: server.node.closeWindow()
        case .removed(let fabric):
            server.node.expire(now: now)
            server.node.removeFabric(fabric)
        case .renamed(let name): server.node.rename(name)
        case .addresses(let addresses): server.node.update(addresses: addresses)
        case .stopping: server.node.shutDown(now: now)
        case .deadlineReached: deadlineReached(now, &actions)
        }
        settle(nil, now, &actions)
        return actions
    }

    private mutating func deadlineReached(_ now: Instant, _ actions: inout [Action]) {
        perform(messages.expire(now: now), now, &actions)
        server.expire(now: now)
        server.node.expire(now: now)
        for (session, ending) in endings where ending.deadline <= now { end(session, now, &actions) }
        if let due = records.retry(now: now) { actions.append(.store(due)) }
    }

    // MARK: Messages

    /// Performs the outputs of the message layer.
    mutating func perform(_ outputs: [MessageLayer.Output], _ now: Instant, _ actions: inout [Action]) {
        for output in outputs {
            switch output {
            case .send(let datagram, let peer): actions.append(.send(datagram, to: peer))
            case .message(let message):
                receive(message, now, &actions)
                settle(Cause(exchange: message.exchange, session: message.session.id), now, &actions)
            case .groupMessage(let message): server.receive(message, now: now)
            case .acknowledged(let exchange): endSessions(after: exchange, now, &actions)
            case .failed(let exchange):
                server.failed(exchange)
                handshakeFailed(exchange, &actions)
                records.forget(exchange)
                endSessions(after: exchange, now, &actions)
            case .sessionEnded(let session): sessionEnded(session, now)
            }
        }
    }

    private mutating func receive(_ message: IncomingMessage, _ now: Instant, _ actions: inout [Action]) {
        guard let kind = message.session.kind else { return receiveHandshake(message, now, &actions) }
        guard message.protocolID == MatterProtocol.interactionModel else {
            return perform(messages.close(message.exchange, now: now), now, &actions)
        }
        let session = message.session.id
        let isCommissioner = kind == .commissioning
        let known = isCommissioner ? Set(server.node.summaries.map(\.index)) : []
        server.receive(message, from: accessor(kind, message.session), now: now)
        if isCommissioner, let added = server.node.summaries.first(where: { !known.contains($0.index) }) {
            addedFabrics[session] = added.index
        }
    }

    private func accessor(_ kind: SessionKind, _ session: SessionContext) -> Accessor {
        let added = addedFabrics[session.id].flatMap { index in
            server.node.summaries.contains { $0.index == index } ? index : nil
        }
        return Accessor(
            kind: kind, session: session.id, attestationChallenge: session.attestationChallenge, fabric: added)
    }

    /// Performs the effects of the node and the outputs of the interaction server until none is left.
    ///
    /// - Parameter cause: the message that caused the effects, or nil.
    private mutating func settle(_ cause: Cause?, _ now: Instant, _ actions: inout [Action]) {
        while true {
            let effects = server.node.takeEffects()
            for effect in effects { perform(effect, cause, now, &actions) }
            server.update(now: now, opening: &messages)
            let outputs = server.takeOutputs()
            for output in outputs { perform(output, now, &actions) }
            guard !effects.isEmpty || !outputs.isEmpty else { break }
        }
        if server.node.paseVerifier == nil { abandonCommissioning(now, &actions) }
    }

    private mutating func perform(
        _ output: InteractionServer<MatterNode>.Output, _ now: Instant, _ actions: inout [Action]
    ) {
        switch output {
        case .send(_, on: let exchange, isLast: _), .close(let exchange):
            if records.hold(output, on: exchange) { return }
            transmit(output, now, &actions)
        case .notice(let notice): actions.append(.notice(notice))
        }
    }

    private mutating func transmit(
        _ output: InteractionServer<MatterNode>.Output, _ now: Instant, _ actions: inout [Action]
    ) {
        switch output {
        case .send(let message, on: let exchange, let isLast):
            let sent = messages.send(
                MatterProtocol.interactionModel, message.opcode, message.encoded, on: exchange, isLast: isLast,
                now: now)
            perform(sent, now, &actions)
        case .close(let exchange):
            perform(messages.close(exchange, now: now), now, &actions)
            endSessions(after: exchange, now, &actions)
        case .notice(let notice): actions.append(.notice(notice))
        }
    }

    private mutating func perform(
        _ effect: NodeEffect, _ cause: Cause?, _ now: Instant, _ actions: inout [Action]
    ) {
        switch effect {
        case .ask(let ticket, let command, let source): actions.append(.ask(ticket, command, from: source))
        case .store(let changed):
            followGroups(&actions)
            if let due = records.store(changed, holding: cause?.exchange) { actions.append(.store(due)) }
        case .announce: actions.append(.announce)
        case .endSessions(let fabric, let excepted):
            let indices = Set(server.node.summaries.map(\.index))
            end(cause, now, &actions) { session in
                guard case .operational(let peer)? = session.kind, fabric ?? peer.fabric == peer.fabric else {
                    return .keep
                }
                guard session.id == excepted else { return .end }
                return indices.contains(peer.fabric) ? .keep : .endLater
            }
        case .endCommissioningSessions:
            end(cause, now, &actions) { $0.kind == .commissioning ? .endLater : .keep }
        case .notice(let notice): actions.append(.notice(notice))
        }
    }

    /// Uses the keys and the addresses of the present groups. Every change is stored.
    private mutating func followGroups(_ actions: inout [Action]) {
        messages.groupKeys = server.node.groupKeys
        let addresses = server.node.groupAddresses
        guard addresses != joined else { return }
        joined = addresses
        actions.append(.join(addresses))
    }

    // MARK: Records

    private mutating func stored(_ isStored: Bool, _ now: Instant, _ actions: inout [Action]) {
        let (released, next) = records.stored(isStored, now: now)
        if !isStored { actions.append(.notice(.notStored)) }
        for output in released {
            // The exchange of a request that failed has ended.
            if !isStored, case .send(_, on: let exchange, isLast: _) = output { server.failed(exchange) }
            transmit(output, now, &actions)
        }
        if let next { actions.append(.store(next)) }
    }

    // MARK: Sessions

    /// Adds the session of a finished handshake.
    mutating func add(_ session: NewSession, _ peer: MatterPeer, _ now: Instant, _ actions: inout [Action]) {
        if session.kind == .commissioning {
            // A commissioner that starts again replaces its previous session.
            perform(messages.end(where: { $0.kind == .commissioning }, notifying: false, now: now), now, &actions)
        }
        perform(messages.add(session, peer: peer, now: now), now, &actions)
        let id = SessionID.secure(session.localID)
        sessions[id] = messages.sessions.last { $0.id == id }
        server.node.expire(now: now)
        server.node.sessionEstablished(session.kind)
        actions.append(.notice(.sessionEstablished(session.kind, peer)))
    }

    private mutating func sessionEnded(_ id: SessionID, _ now: Instant) {
        server.ended(id)
        endings[id] = nil
        addedFabrics[id] = nil
        guard let context = sessions.removeValue(forKey: id) else { return }
        server.node.expire(now: now)
        server.node.sessionEnded(context)
    }

    private enum Verdict {
        case keep
        case end
        /// Ends after the answer on the causing exchange, if that exchange belongs to the session.
        case endLater
    }

    private mutating func end(
        _ cause: Cause?, _ now: Instant, _ actions: inout [Action], _ verdict: (SessionContext) -> Verdict
    ) {
        for session in messages.sessions {
            switch verdict(session) {
            case .keep: break
            case .end: end(session.id, now, &actions)
            case .endLater:
                if let cause, session.id == cause.session {
                    endings[session.id] = Ending(exchange: cause.exchange, deadline: now + Self.endingTime)
                } else {
                    end(session.id, now, &actions)
                }
            }
        }
    }

    private mutating func end(_ session: SessionID, _ now: Instant, _ actions: inout [Action]) {
        endings[session] = nil
        perform(messages.end(where: { $0.id == session }, notifying: true, now: now), now, &actions)
    }

    private mutating func endSessions(after exchange: ExchangeID, _ now: Instant, _ actions: inout [Action]) {
        guard !records.isHolding(exchange) else { return }
        for (session, ending) in endings where ending.exchange == exchange { end(session, now, &actions) }
    }
}
