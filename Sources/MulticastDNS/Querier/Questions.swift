import DNSWire
import ProtocolCore

/// The times of the latest identical question from another host, per family.
struct HeardQuestion: Hashable, Sendable {
    private var v4: Instant?
    private var v6: Instant?

    mutating func note(_ family: IPFamily, now: Instant) {
        switch family {
        case .v4: v4 = now
        case .v6: v6 = now
        }
    }

    func last(_ family: IPFamily) -> Instant? {
        switch family {
        case .v4: v4
        case .v6: v6
        }
    }
}

/// A question that is due.
struct DueQuestion: Hashable {
    let key: QuestionKey
    /// The approximate time since this host last asked the question. New questions and refresh queries use the shortest
    /// interval.
    let interval: Duration

    init(_ key: QuestionKey, interval: Duration = RFC6762.queryInterval) {
        self.key = key
        self.interval = interval
    }
}

/// The owner's requests for answers, in the order of the first request of each question, which makes runs repeatable.
/// The owner limits the number of its requests, and thereby the size of this table.
struct Asks: Sendable {
    /// A question on one interface, or on all (nil).
    private struct Ask: Hashable {
        let key: QuestionKey
        let interface: InterfaceID?
    }

    private var asks: [Ask: (count: Int, order: UInt64)] = [:]
    private var lastOrder: UInt64 = 0

    /// Adds a request. Returns true for the first one of its question and interface.
    mutating func add(_ key: QuestionKey, on interface: InterfaceID?) -> Bool {
        let ask = Ask(key: key, interface: interface)
        if let known = asks[ask] {
            asks[ask] = (known.count + 1, known.order)
            return false
        }
        lastOrder += 1
        asks[ask] = (1, lastOrder)
        return true
    }

    /// Removes a request. Returns true for the last one of its question and interface.
    mutating func remove(_ key: QuestionKey, on interface: InterfaceID?) -> Bool {
        let ask = Ask(key: key, interface: interface)
        guard let known = asks[ask] else { return false }
        asks[ask] = known.count > 1 ? (known.count - 1, known.order) : nil
        return known.count == 1
    }

    /// Returns true if the question is requested on this interface.
    func contains(_ key: QuestionKey, on interface: InterfaceID) -> Bool {
        asks[Ask(key: key, interface: nil)] != nil || asks[Ask(key: key, interface: interface)] != nil
    }

    /// Returns the questions that are requested on this interface, in their order.
    func keys(on interface: InterfaceID) -> [QuestionKey] {
        asks.sorted { $0.value.order < $1.value.order }.map(\.key)
            .filter { $0.interface == nil || $0.interface == interface }.map(\.key)
    }

    /// Returns the position of the question on this interface.
    func order(of key: QuestionKey, on interface: InterfaceID) -> UInt64 {
        min(
            asks[Ask(key: key, interface: nil)]?.order ?? .max, asks[Ask(key: key, interface: interface)]?.order ?? .max
        )
    }
}
