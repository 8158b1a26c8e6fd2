internal import MatterWire
public import ProtocolCore

extension MessageLayer {
    /// Sends a message on an exchange. If an earlier message of the exchange is not acknowledged yet, the message waits
    /// for the acknowledgement.
    ///
    /// - Parameters:
    ///   - payload: at most ``payloadLimit`` bytes.
    ///   - isReliable: true to retransmit the message until it is acknowledged.
    ///   - isLast: true to end the exchange when the message is acknowledged, or immediately if it is not reliable.
    /// - Returns: The outputs, with ``Output/failed(_:)`` if the exchange cannot send the message. Nothing if the exchange
    ///   does not exist, because its end was already reported.
    public mutating func send(
        _ protocolID: UInt16, _ opcode: UInt8, _ payload: [UInt8], on id: ExchangeID, isReliable: Bool = true,
        isLast: Bool, now: Instant
    ) -> [Output] {
        time = max(time, now)
        guard var exchange = exchanges[id] else { return [] }
        guard exchange.hasRoom, payload.count <= Self.payloadLimit else { return fail(id, now: now) }
        let message = OutgoingMessage(
            protocolID: protocolID, opcode: opcode, payload: payload, isReliable: isReliable)
        exchange.enqueue(message, isLast: isLast, now: now)
        exchanges[id] = exchange
        return transmitWaiting(id, now: now)
    }

    /// Opens an exchange on a secure session, for example for the reports of a subscription. Returns nil if the session
    /// does not exist, or too many exchanges are open.
    public mutating func openExchange(on session: SessionID) -> ExchangeID? {
        guard case .secure = session, peer(of: session) != nil, exchanges.hasRoom(on: session, isInitiator: true) else {
            return nil
        }
        return exchanges.open(on: session, now: time).id
    }

    /// Opens the exchange of a handshake that this node begins. Returns nil if too many handshakes are in progress.
    public mutating func openHandshake(with peer: MatterPeer, now: Instant) -> ExchangeID? {
        time = max(time, now)
        switch unsecuredSessions.admission(of: peer, now: now, hasExchange: exchanges.hasExchange(on:)) {
        case .free: break
        case .replaces(let other) where !exchanges.hasExchange(on: .unsecured(other)):
            unsecuredSessions[other] = nil
        case .replaces, .full: return nil
        }
        // An ephemeral node id is in the range of operational node ids (Matter 2.5.5.1).
        let node = randomness.integer(UInt64.self) >> 1 | 1
        let session = UnsecuredSession(node: node, isInitiator: true, peer: peer, now: now)
        unsecuredSessions[node] = session
        return exchanges.open(on: session.id, now: now).id
    }

    /// Closes an exchange. A pending acknowledgement is sent now. A message in flight is still retransmitted, and its
    /// result is reported.
    public mutating func close(_ id: ExchangeID, now: Instant) -> [Output] {
        time = max(time, now)
        guard var exchange = exchanges[id] else { return [] }
        exchange.close()
        exchanges[id] = exchange
        return acknowledgeAlone(id, ifDueAt: nil, now: now) + transmitWaiting(id, now: now)
    }

    /// Sends the messages of an exchange that need not wait, and ends the exchange if it is finished.
    mutating func transmitWaiting(_ id: ExchangeID, now: Instant) -> [Output] {
        var outputs: [Output] = []
        while var exchange = exchanges[id], let message = exchange.next() {
            let header = ProtocolHeader(
                isInitiator: exchange.isInitiator, needsAcknowledgement: message.isReliable,
                acknowledges: exchange.acknowledges, opcode: message.opcode, exchange: exchange.number,
                protocolID: message.protocolID)
            guard let peer = peer(of: exchange.session),
                let (datagram, counter) = encode(header, message.payload, on: exchange.session, now: now)
            else { return outputs + endUnusable(exchange, now: now) }
            let interval = interval(of: exchange.session, now: now)
            let retransmission =
                message.isReliable
                ? Retransmission(
                    counter: counter, datagram: datagram, interval: interval, random: &jitter, now: now) : nil
            exchange.sent(retransmission, now: now)
            exchanges[id] = exchange
            outputs.append(.send(datagram, to: peer))
        }
        if let exchange = exchanges[id], exchange.isFinished {
            outputs += acknowledgeAlone(id, ifDueAt: nil, now: now)
            exchanges[id] = nil
        }
        return outputs
    }

    /// Removes an exchange and reports that it failed.
    mutating func fail(_ id: ExchangeID, now: Instant) -> [Output] {
        let outputs = acknowledgeAlone(id, ifDueAt: nil, now: now)
        exchanges[id] = nil
        return outputs + [.failed(id)]
    }

    /// Ends a session that cannot encrypt, because its counters are used up or the cryptography failed.
    private mutating func endUnusable(_ exchange: Exchange, now: Instant) -> [Output] {
        switch exchange.session {
        case .secure(let id):
            return endSession(id, notifying: false, now: now)
        case .unsecured:
            exchanges[exchange.id] = nil
            return [.failed(exchange.id)]
        }
    }

    /// Acknowledges the last received message of an exchange alone, if it is not acknowledged yet.
    ///
    /// - Parameter time: nil to acknowledge immediately; otherwise nothing is sent before the acknowledgement is due.
    mutating func acknowledgeAlone(_ id: ExchangeID, ifDueAt time: Instant?, now: Instant) -> [Output] {
        guard let exchange = exchanges[id], let counter = exchange.acknowledges,
            let deadline = exchange.acknowledgementDeadline, deadline <= time ?? deadline
        else { return [] }
        return acknowledge(
            counter, exchange.number, isInitiator: exchange.isInitiator, on: exchange.session, now: now)
    }

    /// Sends an acknowledgement alone (Matter 4.12.5.2). The exchange need not exist.
    ///
    /// - Parameter isInitiator: true if this node opened the exchange.
    mutating func acknowledge(
        _ counter: UInt32, _ number: UInt16, isInitiator: Bool, on session: SessionID, now: Instant
    ) -> [Output] {
        let header = ProtocolHeader(
            isInitiator: isInitiator, needsAcknowledgement: false, acknowledges: counter,
            opcode: SecureChannelOpcode.standaloneAcknowledgement.rawValue, exchange: number,
            protocolID: MatterProtocol.secureChannel)
        if var exchange = exchanges.find(session, number, isInitiator: isInitiator) {
            exchange.sentAcknowledgement(of: counter)
            exchanges[exchange.id] = exchange
        }
        guard let peer = peer(of: session), let (datagram, _) = encode(header, [], on: session, now: now) else {
            return []
        }
        return [.send(datagram, to: peer)]
    }

    /// Encodes a message, encrypted if the session is secure. Returns nil if the session does not exist or cannot
    /// encrypt.
    mutating func encode(
        _ header: ProtocolHeader, _ payload: [UInt8], on session: SessionID, now: Instant
    ) -> (datagram: [UInt8], counter: UInt32)? {
        let plain = header.encoded + payload
        switch session {
        case .secure(let id):
            guard var secure = secureSessions[id] else { return nil }
            let sealed = secure.seal(plain, cryptography, now: now)
            secureSessions[id] = secure
            return sealed
        case .unsecured(let node):
            guard var unsecured = unsecuredSessions[node], let counter = unsecuredCounter.next() else { return nil }
            let datagram = unsecured.encode(plain, counter: counter, now: now)
            unsecuredSessions[node] = unsecured
            return (datagram, counter)
        }
    }
}
