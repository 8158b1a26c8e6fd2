internal import ProtocolCore

/// The exchanges of all sessions. Those of secure sessions are at most ``MessageLayer/Limits/exchanges``; each unsecured
/// session has at most one, so unpaired peers cannot occupy the exchanges of secure sessions.
struct ExchangeTable: Sendable {
    /// Sorted by id, because ids ascend.
    private var exchanges: [Exchange] = []
    private var lastID: UInt64 = 0
    private var lastNumber: UInt16

    init(_ randomness: inout MatterRandomness) { lastNumber = randomness.integer() }

    var count: Int { exchanges.count }

    var deadline: Instant? { exchanges.lazy.compactMap(\.deadline).min() }

    subscript(id: ExchangeID) -> Exchange? {
        get { exchanges.first { $0.id == id } }
        set {
            guard let index = exchanges.firstIndex(where: { $0.id == id }) else { return }
            if let newValue { exchanges[index] = newValue } else { exchanges.remove(at: index) }
        }
    }

    /// Finds the exchange of a message.
    ///
    /// - Parameter isInitiator: true if this node opened the exchange.
    func find(_ session: SessionID, _ number: UInt16, isInitiator: Bool) -> Exchange? {
        exchanges.first { $0.session == session && $0.number == number && $0.isInitiator == isInitiator }
    }

    func ids(on session: SessionID) -> [ExchangeID] { exchanges.filter { $0.session == session }.map(\.id) }

    func hasExchange(on session: SessionID) -> Bool { exchanges.contains { $0.session == session } }

    func due(now: Instant) -> [ExchangeID] {
        exchanges.filter { $0.deadline.map { $0 <= now } ?? false }.map(\.id)
    }

    /// True if the session can have one more exchange. The peers of secure sessions are limited further, alone and
    /// together, so that this node can always report to the others.
    ///
    /// - Parameter isInitiator: true if this node opens the exchange.
    func hasRoom(on session: SessionID, isInitiator: Bool) -> Bool {
        guard case .secure = session else { return true }
        let secure = exchanges.filter { if case .secure = $0.session { true } else { false } }
        guard secure.count < MessageLayer.Limits.exchanges else { return false }
        let incoming = secure.filter { !$0.isInitiator }
        return isInitiator
            || incoming.count < MessageLayer.Limits.incomingExchanges
                && incoming.count { $0.session == session } < MessageLayer.Limits.exchangesPerSession
    }

    /// Adds an exchange that the peer opened.
    mutating func accept(_ number: UInt16, on session: SessionID, now: Instant) -> Exchange {
        add(number, on: session, isInitiator: false, now: now)
    }

    /// Adds an exchange that this node opens.
    mutating func open(on session: SessionID, now: Instant) -> Exchange {
        add(nextNumber(on: session), on: session, isInitiator: true, now: now)
    }

    /// Returns a number that no exchange of the session uses.
    mutating func nextNumber(on session: SessionID) -> UInt16 {
        repeat { lastNumber &+= 1 } while find(session, lastNumber, isInitiator: true) != nil
        return lastNumber
    }

    private mutating func add(
        _ number: UInt16, on session: SessionID, isInitiator: Bool, now: Instant
    ) -> Exchange {
        lastID &+= 1
        let exchange = Exchange(
            id: ExchangeID(rawValue: lastID), session: session, number: number, isInitiator: isInitiator, now: now)
        exchanges.append(exchange)
        return exchange
    }
}
