internal import MatterWire
public import ProtocolCore

/// A received message after decryption.
private struct Envelope {
    let session: SessionContext
    let counter: UInt32
    let header: ProtocolHeader
    let payload: ArraySlice<UInt8>

    var isAcknowledgementOnly: Bool { has(.standaloneAcknowledgement) }

    /// True if the peer can open an exchange with this message. Handshakes are not encrypted, and all other messages
    /// are.
    var canOpenExchange: Bool {
        guard header.isInitiator else { return false }
        guard session.kind == nil else { return header.protocolID == MatterProtocol.interactionModel }
        return has(.pbkdfParamRequest) || has(.sigma1)
    }

    /// True if the peer ends the session (Matter 4.11.1.4).
    var closesSession: Bool {
        guard session.kind != nil, has(.statusReport) else { return false }
        let report = try? StatusReport(decoding: payload)
        return report == .closeSession
    }

    private func has(_ opcode: SecureChannelOpcode) -> Bool {
        header.protocolID == MatterProtocol.secureChannel && header.opcode == opcode.rawValue
    }
}

extension MessageLayer {
    /// Handles a datagram. A datagram that is malformed, not authentic or not expected has no effect.
    public mutating func receive(_ datagram: [UInt8], from peer: MatterPeer, now: Instant) -> [Output] {
        time = max(time, now)
        guard datagram.count <= Limits.datagram,
            let (header, headerBytes, rest) = try? MessageHeader.decode(datagram)
        else { return [] }
        if header.isGroupSession {
            return groups.open(datagram, header, cryptography).map { [.groupMessage($0)] } ?? []
        }
        guard !header.isControl, !header.hasPrivacy else { return [] }
        return header.sessionID == 0
            ? receiveUnsecured(header, rest, from: peer, now: now)
            : receiveSecure(header, headerBytes, rest, from: peer, now: now)
    }

    private mutating func receiveSecure(
        _ header: MessageHeader, _ headerBytes: ArraySlice<UInt8>, _ rest: ArraySlice<UInt8>,
        from peer: MatterPeer, now: Instant
    ) -> [Output] {
        guard var session = secureSessions[header.sessionID],
            let (plain, isNew) = session.open(header, headerBytes: headerBytes, rest, cryptography),
            let (protocolHeader, payload) = try? ProtocolHeader.decode(plain[...])
        else { return [] }
        var context = session.context
        if isNew {
            session.accept(header.counter, from: peer, now: now)
            context = session.context
        }
        let envelope = Envelope(
            session: context, counter: header.counter, header: protocolHeader, payload: payload)
        guard isNew else { return acknowledgeDuplicate(envelope, now: now) }
        // The counter of a message without an exchange is not recorded, so its retransmission can be accepted later.
        guard hasExchange(for: envelope) else { return [] }
        secureSessions[header.sessionID] = session
        return deliver(envelope, now: now)
    }

    private mutating func receiveUnsecured(
        _ header: MessageHeader, _ rest: ArraySlice<UInt8>, from peer: MatterPeer, now: Instant
    ) -> [Output] {
        guard let (node, isInitiator) = unsecuredNode(header),
            let (protocolHeader, payload) = try? ProtocolHeader.decode(rest),
            protocolHeader.protocolID == MatterProtocol.secureChannel
        else { return [] }
        let known = unsecuredSessions[node]
        var session =
            known ?? UnsecuredSession(node: node, isInitiator: isInitiator, peer: peer, now: now)
        guard session.isInitiator == isInitiator, session.peer == peer else { return [] }
        let envelope = Envelope(
            session: session.context, counter: header.counter, header: protocolHeader, payload: payload)
        guard session.isNew(header.counter) else { return acknowledgeDuplicate(envelope, now: now) }
        var outputs: [Output] = []
        if known == nil {
            guard !isInitiator, envelope.canOpenExchange else { return [] }
            switch unsecuredSessions.admission(of: peer, now: now, hasExchange: exchanges.hasExchange(on:)) {
            case .free: break
            case .replaces(let other):
                outputs += failExchanges(on: .unsecured(other), now: now)
                unsecuredSessions[other] = nil
            case .full: return []
            }
        }
        session.accept(header.counter, now: now)
        unsecuredSessions[node] = session
        return outputs + deliver(envelope, now: now)
    }

    /// Returns the ephemeral node id of a message that is not encrypted, and whether this node opened the session. The
    /// initiator names itself as the source, and the responder names the initiator as the destination.
    private func unsecuredNode(_ header: MessageHeader) -> (UInt64, isInitiator: Bool)? {
        switch (header.source, header.destination) {
        case (let source?, .none): (source, false)
        case (nil, .node(let destination)): (destination, true)
        case (_, .group), (nil, .none), (_?, .node): nil
        }
    }

    /// True if the message belongs to an exchange, needs none, or can get one.
    private func hasExchange(for envelope: Envelope) -> Bool {
        let isInitiator = !envelope.header.isInitiator
        return !envelope.canOpenExchange || envelope.isAcknowledgementOnly
            || exchanges.find(envelope.session.id, envelope.header.exchange, isInitiator: isInitiator) != nil
            || exchanges.hasRoom(on: envelope.session.id, isInitiator: isInitiator)
    }

    /// Handles a message that was received before: the previous acknowledgement may be lost (Matter 4.12.5.2).
    private mutating func acknowledgeDuplicate(_ envelope: Envelope, now: Instant) -> [Output] {
        guard envelope.header.needsAcknowledgement else { return [] }
        return acknowledge(
            envelope.counter, envelope.header.exchange, isInitiator: !envelope.header.isInitiator,
            on: envelope.session.id, now: now)
    }

    /// Handles a new message.
    private mutating func deliver(_ envelope: Envelope, now: Instant) -> [Output] {
        let (session, header) = (envelope.session, envelope.header)
        let known = exchanges.find(session.id, header.exchange, isInitiator: !header.isInitiator)
        var outputs: [Output] = []
        if let known, let counter = header.acknowledges {
            outputs += handleAcknowledgement(of: counter, on: known.id, now: now)
        }
        guard !envelope.isAcknowledgementOnly else { return outputs }
        if envelope.closesSession, case .secure(let id) = session.id {
            return outputs + endSession(id, notifying: false, now: now)
        }
        guard let exchange = findOrOpenExchange(for: envelope, known: known, now: now, &outputs) else {
            return outputs + acknowledgeDuplicate(envelope, now: now)
        }
        // Only one message can wait for its acknowledgement.
        outputs += acknowledgeAlone(exchange.id, ifDueAt: nil, now: now)
        exchanges[exchange.id]?.received(header.needsAcknowledgement ? envelope.counter : nil, now: now)
        let message = IncomingMessage(
            exchange: exchange.id, session: session, protocolID: header.protocolID, opcode: header.opcode,
            payload: Array(envelope.payload), isFirst: known == nil)
        return outputs + [.message(message)]
    }

    /// Returns the exchange that a message is delivered to, or nil if it is only acknowledged: its exchange has ended,
    /// or the peer cannot open an exchange with it.
    private mutating func findOrOpenExchange(
        for envelope: Envelope, known: Exchange?, now: Instant, _ outputs: inout [Output]
    ) -> Exchange? {
        if let known {
            guard let current = exchanges[known.id], !current.isClosing else { return nil }
            return current
        }
        guard envelope.canOpenExchange else { return nil }
        let session = envelope.session.id
        if case .unsecured = session {
            // The peer has given up its previous handshake.
            outputs += failExchanges(on: session, now: now)
        }
        return exchanges.accept(envelope.header.exchange, on: session, now: now)
    }

    private mutating func failExchanges(on session: SessionID, now: Instant) -> [Output] {
        var outputs: [Output] = []
        for id in exchanges.ids(on: session) { outputs += fail(id, now: now) }
        return outputs
    }

    private mutating func handleAcknowledgement(of counter: UInt32, on id: ExchangeID, now: Instant) -> [Output] {
        guard var exchange = exchanges[id], exchange.acknowledged(counter, now: now) else { return [] }
        exchanges[id] = exchange
        return [.acknowledged(id)] + transmitWaiting(id, now: now)
    }
}
