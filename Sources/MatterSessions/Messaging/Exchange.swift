internal import ProtocolCore

/// A message that waits for its transmission.
struct OutgoingMessage: Sendable {
    var protocolID: UInt16
    var opcode: UInt8
    var payload: [UInt8]
    var isReliable: Bool
}

/// A conversation on a session (Matter 4.10), with the state of reliable messages in both directions.
struct Exchange: Sendable {
    let id: ExchangeID
    let session: SessionID
    /// The exchange id in messages.
    let number: UInt16
    /// True if this node opened the exchange.
    let isInitiator: Bool
    /// The counter of the peer's last reliable message. Each message acknowledges it, even if it was already
    /// acknowledged, because that acknowledgement may be lost.
    private(set) var acknowledges: UInt32?
    /// The time at which ``acknowledges`` is acknowledged alone, or nil if it is acknowledged.
    private(set) var acknowledgementDeadline: Instant?
    /// The message that the peer has to acknowledge.
    private(set) var inFlight: Retransmission?
    /// Messages that are sent after the message in flight is acknowledged, at most
    /// ``MessageLayer/Limits/waitingMessages``.
    private var waiting: [OutgoingMessage] = []
    /// True after the last message was sent, or the exchange was closed. It ends when no message is in flight.
    private(set) var isClosing = false
    private var usedAt: Instant

    init(id: ExchangeID, session: SessionID, number: UInt16, isInitiator: Bool, now: Instant) {
        (self.id, self.session, self.number, self.isInitiator) = (id, session, number, isInitiator)
        usedAt = now
    }

    var isFinished: Bool { isClosing && inFlight == nil && waiting.isEmpty }

    /// True if the exchange can send one more message.
    var hasRoom: Bool { !isClosing && waiting.count < MessageLayer.Limits.waitingMessages }

    /// The time at which the exchange has failed because neither side has sent a message, or nil while a message is in
    /// flight.
    var idleDeadline: Instant? {
        guard inFlight == nil else { return nil }
        switch session {
        case .secure: return usedAt + MessageLayer.Limits.exchangeIdleTime
        case .unsecured: return usedAt + MessageLayer.Limits.handshakeTime
        }
    }

    var deadline: Instant? { sooner(sooner(acknowledgementDeadline, inFlight?.deadline), idleDeadline) }

    /// Records a message from the peer.
    ///
    /// - Parameter counter: the counter to acknowledge, or nil if the message is not reliable.
    mutating func received(_ counter: UInt32?, now: Instant) {
        usedAt = now
        guard let counter else { return }
        (acknowledges, acknowledgementDeadline) = (counter, now + Retransmission.acknowledgementDelay)
    }

    mutating func enqueue(_ message: OutgoingMessage, isLast: Bool, now: Instant) {
        usedAt = now
        waiting.append(message)
        isClosing = isClosing || isLast
    }

    mutating func close() { isClosing = true }

    /// Returns the next message to send, or nil if none waits or a message is in flight.
    mutating func next() -> OutgoingMessage? {
        guard inFlight == nil, !waiting.isEmpty else { return nil }
        return waiting.removeFirst()
    }

    mutating func sent(_ retransmission: Retransmission?, now: Instant) {
        (inFlight, usedAt) = (retransmission, now)
        acknowledgementDeadline = nil
    }

    /// Records that the peer's message with this counter was acknowledged.
    mutating func sentAcknowledgement(of counter: UInt32) {
        if acknowledges == counter { acknowledgementDeadline = nil }
    }

    /// Records an acknowledgement. Returns false if the counter is not that of the message in flight.
    mutating func acknowledged(_ counter: UInt32, now: Instant) -> Bool {
        guard inFlight?.counter == counter else { return false }
        (inFlight, usedAt) = (nil, now)
        return true
    }

    /// Returns the datagram to retransmit, or nil if the message has failed.
    mutating func retransmit(interval: Duration, random: inout SeededRandom, now: Instant) -> [UInt8]? {
        inFlight?.next(interval: interval, random: &random, now: now)
    }
}
