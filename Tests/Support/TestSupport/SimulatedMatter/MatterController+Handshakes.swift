import MatterSessions
import MatterWire
import ProtocolCore

/// A handshake that this controller has begun.
struct Handshake: Sendable {
    enum Initiator: Sendable {
        case passcode(PASEInitiator)
        case certificate(CASEInitiator)
    }

    var ticket: MatterTicket
    var initiator: Initiator
}

extension MatterController {
    mutating func startPASE(_ passcode: UInt32, _ ticket: MatterTicket, now: Instant) {
        let id = messages.reserveSessionID()
        var initiator = PASEInitiator(
            passcode: passcode, sessionID: id, randomness: randomness.split())
        let (opcode, payload) = initiator.start()
        start(.passcode(initiator), opcode, payload, ticket, now: now)
    }

    mutating func startCASE(_ ticket: MatterTicket, now: Instant) {
        let id = messages.reserveSessionID()
        do throws(MatterError) {
            var initiator = CASEInitiator(
                fabric: identity, peer: deviceNodeForSessions, sessionID: id,
                resumption: resumesSessions ? resumption : nil,
                randomness: randomness.split())
            let (opcode, payload) = try initiator.start(cryptography)
            start(.certificate(initiator), opcode, payload, ticket, now: now)
        } catch {
            finish(ticket, .failure(.handshake("\(error)")), now: now)
        }
    }

    private mutating func start(
        _ initiator: Handshake.Initiator, _ opcode: SecureChannelOpcode, _ payload: [UInt8], _ ticket: MatterTicket,
        now: Instant
    ) {
        guard let exchange = messages.openHandshake(with: device, now: now) else {
            return finish(ticket, .failure(.noSession), now: now)
        }
        handshakes[exchange] = Handshake(ticket: ticket, initiator: initiator)
        send(opcode, payload, on: exchange, isLast: false, now: now)
    }

    private mutating func send(
        _ opcode: SecureChannelOpcode, _ payload: [UInt8], on exchange: ExchangeID, isLast: Bool, now: Instant
    ) {
        let outputs = messages.send(
            MatterProtocol.secureChannel, opcode.rawValue, payload, on: exchange, isLast: isLast, now: now)
        handle(outputs, now: now)
    }

    mutating func continueHandshake(_ message: IncomingMessage, now: Instant) {
        guard var handshake = handshakes[message.exchange],
            message.protocolID == MatterProtocol.secureChannel,
            let opcode = SecureChannelOpcode(rawValue: message.opcode)
        else { return }
        let result: HandshakeResult
        switch handshake.initiator {
        case .passcode(var initiator):
            result = initiator.handle(opcode, message.payload, cryptography)
            handshake.initiator = .passcode(initiator)
        case .certificate(var initiator):
            result = initiator.handle(opcode, message.payload, cryptography)
            handshake.initiator = .certificate(initiator)
        }
        switch result {
        case .reply(let reply, let payload):
            handshakes[message.exchange] = handshake
            send(reply, payload, on: message.exchange, isLast: false, now: now)
        case .finished(let reply, let session):
            handshakes[message.exchange] = nil
            if let reply { send(reply.0, reply.1, on: message.exchange, isLast: true, now: now) }
            if case .certificate(let initiator) = handshake.initiator {
                resumption = initiator.newResumption
                if opcode == .sigma2Resume { resumedSessions += 1 }
            }
            handle(messages.add(session, peer: device, now: now), now: now)
            if reply == nil { handle(messages.close(message.exchange, now: now), now: now) }
            let id = SessionID.secure(session.localID)
            guard let context = messages.sessions.first(where: { $0.id == id }) else {
                return finish(handshake.ticket, .failure(.noSession), now: now)
            }
            sessions.append(context)
            finish(handshake.ticket, .success(.connected(id)), now: now)
        case .failed(let reply, let error):
            handshakes[message.exchange] = nil
            if let reply { send(reply.0, reply.1, on: message.exchange, isLast: true, now: now) }
            if reply == nil { handle(messages.close(message.exchange, now: now), now: now) }
            finish(handshake.ticket, .failure(.handshake("\(error)")), now: now)
        }
    }
}
