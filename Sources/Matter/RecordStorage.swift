internal import MatterSessions
internal import MatterWire
internal import ProtocolCore

/// Tracks which changes of the records are in flash, and holds the answers that promise that they are.
struct RecordStorage: Sendable {
    typealias Output = InteractionServer<MatterNode>.Output

    /// The time after which a failed store is repeated.
    static let retryTime = Duration.seconds(60)

    /// The records of the store that is in progress.
    private var current: MatterRecords?
    /// Newer records, to be stored afterwards.
    private var next: MatterRecords?
    /// Records that could not be stored.
    private var failed: MatterRecords?
    /// The time at which a failed store is repeated, or nil.
    private(set) var retryAt: Instant?
    /// The exchanges whose answers wait for the store in progress. The message layer limits their number.
    private var currentExchanges: Set<ExchangeID> = []
    /// The exchanges whose answers wait for the next store.
    private var nextExchanges: Set<ExchangeID> = []
    private var held: [(exchange: ExchangeID, output: Output)] = []

    var isStoring: Bool { current != nil }

    /// Requests a store and holds the answers on an exchange. Returns the records to store now, or nil if another store
    /// is in progress.
    mutating func store(_ records: MatterRecords, holding exchange: ExchangeID?) -> MatterRecords? {
        (failed, retryAt) = (nil, nil)
        guard current != nil else {
            current = records
            if let exchange { currentExchanges.insert(exchange) }
            return records
        }
        next = records
        if let exchange {
            currentExchanges.remove(exchange)
            nextExchanges.insert(exchange)
        }
        return nil
    }

    /// Returns true if answers on the exchange wait for a store.
    func isHolding(_ exchange: ExchangeID) -> Bool {
        currentExchanges.contains(exchange) || nextExchanges.contains(exchange)
    }

    /// Holds an answer. Returns false if the exchange does not wait for a store.
    mutating func hold(_ output: Output, on exchange: ExchangeID) -> Bool {
        guard isHolding(exchange) else { return false }
        held.append((exchange, output))
        return true
    }

    /// Handles the result of a store. Returns the answers that no longer wait, which are failures if the store failed,
    /// and the records to store next.
    mutating func stored(_ isStored: Bool, now: Instant) -> (released: [Output], next: MatterRecords?) {
        guard let finished = current else { return ([], nil) }
        let exchanges = currentExchanges
        var released: [Output] = []
        for (exchange, output) in held where exchanges.contains(exchange) {
            released.append(isStored ? output : failure(output))
        }
        held.removeAll { exchanges.contains($0.exchange) }
        (current, currentExchanges) = (next, nextExchanges)
        (next, nextExchanges) = (nil, [])
        if !isStored, current == nil { (failed, retryAt) = (finished, now + Self.retryTime) }
        return (released, current)
    }

    private func failure(_ output: Output) -> Output {
        switch output {
        case .send(_, on: let exchange, isLast: _): .send(.status(.failure), on: exchange, isLast: true)
        case .close, .notice: output
        }
    }

    /// Returns the records of a failed store if it is time to repeat it.
    mutating func retry(now: Instant) -> MatterRecords? {
        guard let due = retryAt, due <= now, let records = failed else { return nil }
        return store(records, holding: nil)
    }

    /// Drops the answers on an exchange that has ended.
    mutating func forget(_ exchange: ExchangeID) {
        currentExchanges.remove(exchange)
        nextExchanges.remove(exchange)
        held.removeAll { $0.exchange == exchange }
    }
}
