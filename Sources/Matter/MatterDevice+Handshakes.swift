internal import MatterSessions
internal import MatterWire
internal import ProtocolCore

/// The handshakes of peers that have no session yet, and the limits that protect the device against them.
struct Handshakes: Sendable {
    struct Commissioning: Sendable {
        var exchange: ExchangeID
        var peer: MatterPeer
        var responder: PASEResponder
        var activeAt: Instant
        /// True if the device has sent its confirmation, with which a peer can check a passcode.
        var isCounted = false
    }

    struct Operational: Sendable {
        var exchange: ExchangeID
        var peer: MatterPeer
        var responder: CASEResponder
        var activeAt: Instant
    }

    /// The number of failed attempts with which a commissioning window closes (Matter 5.5).
    static let triesLimit = 20
    /// The limit of simultaneous CASE handshakes. It bounds the memory and the time that peers without a session use.
    static let operationalLimit = 2
    /// The time without a message after which a handshake is replaced by a new one.
    static let idleTime = Duration.seconds(5)
    /// The time that a rejected peer waits before it tries again, in milliseconds.
    static let busyTime: UInt16 = 5000

    /// Limits the cost of SPAKE2+ to about one handshake per second. Several controllers can be added one after the
    /// other.
    var commissioningBucket = TokenBucket(burst: 8, interval: .seconds(1))
    /// Limits the cost of CASE. Ten controllers that reconnect after a restart need about two seconds.
    var operationalBucket = TokenBucket(burst: 8, interval: .milliseconds(200))
    /// Limits the answers to rejected peers. Further ones only receive an acknowledgement.
    var refusalBucket = TokenBucket(burst: 16, interval: .milliseconds(100))
    var commissioning: Commissioning?
    var operational: [Operational] = []
    /// The failed attempts in this commissioning window.
    var tries = 0
    /// The verifier that the attempts belong to.
    var verifier: SpakeVerifier?
}

extension MatterDevice {
    // MARK: Handshakes (Matter 4.14)

    /// Handles a message that is not encrypted.
    mutating func receiveHandshake(_ message: IncomingMessage, _ now: Instant, _ actions: inout [Action]) {
        let exchange = message.exchange
        guard message.protocolID == MatterProtocol.secureChannel,
            let opcode = SecureChannelOpcode(rawValue: message.opcode)
        else { return close(exchange, now, &actions) }
        if message.isFirst {
            switch opcode {
            case .pbkdfParamRequest: beginCommissioning(message, now, &actions)
            case .sigma1: beginOperational(message, now, &actions)
            case .messageCounterSyncRequest, .messageCounterSyncResponse, .standaloneAcknowledgement,
                .pbkdfParamResponse, .pake1, .pake2, .pake3, .sigma2, .sigma3, .sigma2Resume, .statusReport:
                close(exchange, now, &actions)
            }
        } else if handshakes.commissioning?.exchange == exchange {
            advanceCommissioning(opcode, message.payload, now, &actions)
        } else if handshakes.operational.contains(where: { $0.exchange == exchange }) {
            advanceOperational(exchange, opcode, message.payload, now, &actions)
        } else {
            close(exchange, now, &actions)
        }
    }

    private mutating func close(_ exchange: ExchangeID, _ now: Instant, _ actions: inout [Action]) {
        perform(messages.close(exchange, now: now), now, &actions)
    }

    private mutating func send(
        _ reply: (SecureChannelOpcode, [UInt8]), on exchange: ExchangeID, isLast: Bool, _ now: Instant,
        _ actions: inout [Action]
    ) {
        let sent = messages.send(
            MatterProtocol.secureChannel, reply.0.rawValue, reply.1, on: exchange, isLast: isLast, now: now)
        perform(sent, now, &actions)
    }

    /// Ends a handshake with a status, or without one if there were too many.
    private mutating func refuse(
        _ exchange: ExchangeID, _ status: StatusReport, _ now: Instant, _ actions: inout [Action]
    ) {
        guard handshakes.refusalBucket.take(now: now) else { return close(exchange, now, &actions) }
        // An answer to a peer that floods the device is not repeated.
        let sent = messages.send(
            MatterProtocol.secureChannel, SecureChannelOpcode.statusReport.rawValue, status.encoded, on: exchange,
            isReliable: false, isLast: true, now: now)
        perform(sent, now, &actions)
    }

    // MARK: PASE

    private mutating func beginCommissioning(
        _ message: IncomingMessage, _ now: Instant, _ actions: inout [Action]
    ) {
        let (exchange, peer) = (message.exchange, message.session.peer)
        guard let verifier = server.node.paseVerifier else {
            return refuse(exchange, .invalidParameter, now, &actions)
        }
        guard isFree(for: peer, now), handshakes.commissioningBucket.take(now: now) else {
            return refuse(exchange, .busy(wait: Handshakes.busyTime), now, &actions)
        }
        if let previous = handshakes.commissioning {
            endCommissioning(&actions)
            close(previous.exchange, now, &actions)
        }
        // The previous attempt may have closed the window.
        guard server.node.paseVerifier != nil else { return refuse(exchange, .invalidParameter, now, &actions) }
        if handshakes.verifier != verifier { (handshakes.verifier, handshakes.tries) = (verifier, 0) }
        handshakes.commissioning = Handshakes.Commissioning(
            exchange: exchange, peer: peer,
            responder: PASEResponder(
                verifier, sessionID: messages.reserveSessionID(), parameters: .standard,
                randomness: randomness.split()),
            activeAt: now)
        advanceCommissioning(.pbkdfParamRequest, message.payload, now, &actions)
    }

    /// Returns false if another commissioner is active (Matter 5.5). A commissioner may start again.
    private func isFree(for peer: MatterPeer, _ now: Instant) -> Bool {
        func isSame(_ other: MatterPeer) -> Bool { other.address == peer.address && other.scope == peer.scope }
        let active = messages.sessions.first { $0.kind == .commissioning }
        if let active, !isSame(active.peer) { return false }
        guard let current = handshakes.commissioning else { return true }
        return isSame(current.peer) || current.activeAt + Handshakes.idleTime <= now
    }

    private mutating func advanceCommissioning(
        _ opcode: SecureChannelOpcode, _ payload: [UInt8], _ now: Instant, _ actions: inout [Action]
    ) {
        guard var handshake = handshakes.commissioning else { return }
        let result = handshake.responder.handle(opcode, payload, cryptography)
        handshake.activeAt = now
        switch result {
        case .reply(let opcode, let payload):
            if opcode == .pake2 {
                handshake.isCounted = true
                handshakes.tries += 1
            }
            handshakes.commissioning = handshake
            send((opcode, payload), on: handshake.exchange, isLast: false, now, &actions)
        case .finished(let reply, let session):
            (handshakes.commissioning, handshakes.tries) = (nil, 0)
            add(session, handshake.peer, now, &actions)
            if let reply {
                send(reply, on: handshake.exchange, isLast: true, now, &actions)
            } else {
                close(handshake.exchange, now, &actions)
            }
        case .failed(let reply, let error):
            handshakes.commissioning = handshake
            actions.append(.notice(.handshakeFailed(handshake.peer, error)))
            endCommissioning(&actions)
            if let reply {
                send(reply, on: handshake.exchange, isLast: true, now, &actions)
            } else {
                close(handshake.exchange, now, &actions)
            }
        }
    }

    /// Ends a failed PASE handshake. The window closes after too many attempts.
    private mutating func endCommissioning(_ actions: inout [Action]) {
        guard let handshake = handshakes.commissioning else { return }
        handshakes.commissioning = nil
        guard handshake.isCounted else { return }
        actions.append(.notice(.wrongPasscode(tries: handshakes.tries, limit: Handshakes.triesLimit)))
        guard handshakes.tries >= Handshakes.triesLimit else { return }
        handshakes.tries = 0
        server.node.closeWindow()
    }

    /// Ends the PASE handshake after the window has closed.
    mutating func abandonCommissioning(_ now: Instant, _ actions: inout [Action]) {
        handshakes.tries = 0
        guard let handshake = handshakes.commissioning else { return }
        handshakes.commissioning = nil
        close(handshake.exchange, now, &actions)
    }

    // MARK: CASE

    private mutating func beginOperational(
        _ message: IncomingMessage, _ now: Instant, _ actions: inout [Action]
    ) {
        let exchange = message.exchange
        guard makeRoom(now, &actions), handshakes.operationalBucket.take(now: now) else {
            return refuse(exchange, .busy(wait: Handshakes.busyTime), now, &actions)
        }
        let responder = CASEResponder(
            fabrics: server.node.fabrics, resumptions: server.node.resumptions,
            sessionID: messages.reserveSessionID(), parameters: .standard, randomness: randomness.split())
        handshakes.operational.append(
            Handshakes.Operational(
                exchange: exchange, peer: message.session.peer, responder: responder, activeAt: now))
        advanceOperational(exchange, .sigma1, message.payload, now, &actions)
    }

    /// Returns false if all handshakes are active. An idle one is replaced.
    private mutating func makeRoom(_ now: Instant, _ actions: inout [Action]) -> Bool {
        guard handshakes.operational.count >= Handshakes.operationalLimit else { return true }
        guard let idle = handshakes.operational.firstIndex(where: { $0.activeAt + Handshakes.idleTime <= now }) else {
            return false
        }
        let previous = handshakes.operational.remove(at: idle)
        close(previous.exchange, now, &actions)
        return true
    }

    private mutating func advanceOperational(
        _ exchange: ExchangeID, _ opcode: SecureChannelOpcode, _ payload: [UInt8], _ now: Instant,
        _ actions: inout [Action]
    ) {
        guard let index = handshakes.operational.firstIndex(where: { $0.exchange == exchange }) else { return }
        var handshake = handshakes.operational.remove(at: index)
        let result = handshake.responder.handle(opcode, payload, cryptography)
        handshake.activeAt = now
        let last: (SecureChannelOpcode, [UInt8])?
        switch result {
        case .reply(let opcode, let payload):
            handshakes.operational.append(handshake)
            return send((opcode, payload), on: exchange, isLast: false, now, &actions)
        case .finished(let reply, let session):
            if let resumption = handshake.responder.newResumption { server.node.remember(resumption) }
            add(session, handshake.peer, now, &actions)
            last = reply
        case .failed(let reply, let error):
            actions.append(.notice(.handshakeFailed(handshake.peer, error)))
            last = reply
        }
        if let last {
            send(last, on: exchange, isLast: true, now, &actions)
        } else {
            close(exchange, now, &actions)
        }
    }

    /// Handles a handshake whose peer no longer answers.
    mutating func handshakeFailed(_ exchange: ExchangeID, _ actions: inout [Action]) {
        handshakes.operational.removeAll { $0.exchange == exchange }
        if handshakes.commissioning?.exchange == exchange { endCommissioning(&actions) }
    }
}
