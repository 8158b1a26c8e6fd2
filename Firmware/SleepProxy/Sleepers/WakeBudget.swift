import DNSWire
import ProtocolCore

/// Limits the wakes per sleeper, per cause and in total, and counts them. A host that was woken and registers again
/// keeps its budget.
struct WakeBudget: Sendable {
    /// The wakes of one card.
    struct History: Hashable, Sendable {
        fileprivate var bucket: TokenBucket
        fileprivate(set) var wakes: [WakeCause: Int] = [:]
        fileprivate(set) var lastCause: WakeCause?
        fileprivate var lastUse: Instant
    }

    private let limits: SleepProxyLimits
    private var total: TokenBucket
    private var perCause: [WakeCause: TokenBucket] = [:]
    private var histories: [MACAddress: History] = [:]

    init(limits: SleepProxyLimits) {
        self.limits = limits
        total = TokenBucket(burst: limits.wakeBurst, interval: limits.wakeInterval)
    }

    /// The history of a card, or nil if the proxy has not woken it.
    subscript(card: MACAddress) -> History? { histories[card] }

    /// Spends one wake. Returns false, and spends nothing, if one of the limits is reached.
    mutating func spend(_ card: MACAddress, _ cause: WakeCause, now: Instant) -> Bool {
        var history = histories[card] ?? History(bucket: emptyBucket, lastUse: now)
        var causeBucket =
            perCause[cause] ?? TokenBucket(burst: limits.causeWakeBurst, interval: limits.causeWakeInterval)
        let available = [history.bucket.available(), causeBucket.available(), total.available()]
        guard available.allSatisfy({ $0 <= now }) else { return false }
        history.bucket.spend(now: now)
        causeBucket.spend(now: now)
        total.spend(now: now)
        history.wakes[cause, default: 0] += 1
        history.lastCause = cause
        history.lastUse = now
        perCause[cause] = causeBucket
        makeRoom(for: card)
        histories[card] = history
        return true
    }

    private var emptyBucket: TokenBucket {
        TokenBucket(burst: limits.sleeperWakeBurst, interval: limits.sleeperWakeInterval)
    }

    /// Removes the history that was not used for the longest time, if the table is full.
    private mutating func makeRoom(for card: MACAddress) {
        guard histories[card] == nil, histories.count >= limits.rememberedHosts else { return }
        let oldest = histories.min {
            ($0.value.lastUse, $0.key.rawValue) < ($1.value.lastUse, $1.key.rawValue)
        }
        if let oldest { histories[oldest.key] = nil }
    }
}
