import DNSWire
import ProtocolCore

/// Limits the wakes per sleeper, per cause and in total. A host that was woken and registers again keeps its budget.
struct WakeBudget: Sendable {
    /// The budget of one card.
    private struct Card: Sendable {
        var bucket: TokenBucket
        var lastUse: Instant
    }

    private let limits: SleepProxyLimits
    private var total: TokenBucket
    private var perCause: [WakeCause: TokenBucket] = [:]
    private var cards: [MACAddress: Card] = [:]

    init(limits: SleepProxyLimits) {
        self.limits = limits
        total = TokenBucket(burst: limits.wakeBurst, interval: limits.wakeInterval)
    }

    /// Spends one wake. Returns false, and spends nothing, if one of the limits is reached.
    mutating func spend(_ card: MACAddress, _ cause: WakeCause, now: Instant) -> Bool {
        var own = cards[card] ?? Card(bucket: emptyBucket, lastUse: now)
        var causeBucket =
            perCause[cause] ?? TokenBucket(burst: limits.causeWakeBurst, interval: limits.causeWakeInterval)
        let available = [own.bucket.available(), causeBucket.available(), total.available()]
        guard available.allSatisfy({ $0 <= now }) else { return false }
        own.bucket.spend(now: now)
        causeBucket.spend(now: now)
        total.spend(now: now)
        own.lastUse = now
        perCause[cause] = causeBucket
        makeRoom(for: card)
        cards[card] = own
        return true
    }

    private var emptyBucket: TokenBucket {
        TokenBucket(burst: limits.sleeperWakeBurst, interval: limits.sleeperWakeInterval)
    }

    /// Removes the budget that was not used for the longest time, if the table is full.
    private mutating func makeRoom(for card: MACAddress) {
        guard cards[card] == nil, cards.count >= limits.rememberedHosts else { return }
        let oldest = cards.min {
            ($0.value.lastUse, $0.key.rawValue) < ($1.value.lastUse, $1.key.rawValue)
        }
        if let oldest { cards[oldest.key] = nil }
    }
}
