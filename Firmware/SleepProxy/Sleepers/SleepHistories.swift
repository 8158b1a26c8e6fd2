import DNSWire
import ProtocolCore

/// The sleep and the wakes of each host since the proxy has known it, also after its return.
struct SleepHistories: Sendable {
    /// The limit of entries. Any host can register, so the table must not grow with the number of registrations.
    private let capacity: Int
    private var entries: [MACAddress: SleepHistory]
    /// A number that changes with each history.
    private(set) var generation: UInt64 = 0

    /// - Parameter known: the histories of the proxy that served the link before.
    init(capacity: Int, known: [SleepHistory] = []) {
        self.capacity = capacity
        entries = Dictionary(known.prefix(capacity).map { ($0.identity.card, $0) }) { first, _ in first }
    }

    /// The history of a card, or nil if its host has not slept here.
    subscript(card: MACAddress) -> SleepHistory? { entries[card] }

    /// The histories, the last changed one first.
    var newestFirst: [SleepHistory] { entries.values.sorted(by: SleepHistory.isNewer) }

    /// The host fell asleep. After the loss of the link or a lost wake, the same sleep continues.
    mutating func fellAsleep(_ identity: SleeperIdentity, _ addresses: [IPAddress], now: Instant) {
        guard entries[identity.card]?.asleepSince == nil else { return }
        change(identity, now: now) { history in
            history.addresses = addresses
            history.asleepSince = now
            history.sleeps = history.sleeps.addingOne
        }
    }

    /// The host was woken for this cause.
    mutating func woke(_ identity: SleeperIdentity, _ cause: WakeCause, now: Instant) {
        change(identity, now: now) { history in
            history.wakes[cause] = (history.wakes[cause] ?? 0).addingOne
            history.lastCause = cause
        }
    }

    /// The host is awake, or the proxy no longer represents it.
    mutating func ended(_ card: MACAddress, now: Instant) {
        guard let history = entries[card], let start = history.asleepSince else { return }
        change(history.identity, now: now) { history in
            history.asleepSince = nil
            // A sum above the range of `Duration` is not possible: the clock has 64 bits, and sleeps do not overlap.
            history.slept += max(.zero, now - start)
        }
    }

    private mutating func change(_ identity: SleeperIdentity, now: Instant, _ body: (inout SleepHistory) -> Void) {
        makeRoom(for: identity.card)
        var history = entries[identity.card] ?? SleepHistory(identity: identity, now: now)
        // The host may have a new name.
        history.identity = identity
        history.lastChange = now
        body(&history)
        entries[identity.card] = history
        generation &+= 1
    }

    /// Removes the oldest history if the table is full. Hosts that are awake come first.
    private mutating func makeRoom(for card: MACAddress) {
        guard entries[card] == nil, entries.count >= capacity else { return }
        let oldest = entries.min { left, right in
            let isLeftAwake = left.value.asleepSince == nil
            guard isLeftAwake == (right.value.asleepSince == nil) else { return isLeftAwake }
            return (left.value.lastChange, left.key.rawValue) < (right.value.lastChange, right.key.rawValue)
        }
        if let oldest { entries[oldest.key] = nil }
    }
}

extension Int {
    /// The next number. The highest number remains.
    fileprivate var addingOne: Int { self == .max ? self : self + 1 }
}
