public import DNSWire
public import ProtocolCore

/// The sleep and the wakes of a host since the proxy has known it.
public struct SleepHistory: Hashable, Sendable {
    /// The host name and the card.
    public internal(set) var identity: SleeperIdentity
    /// The addresses at the begin of the last sleep.
    public internal(set) var addresses: [IPAddress] = []
    /// The begin of the current sleep, or nil if the host is awake.
    public internal(set) var asleepSince: Instant?
    /// The duration of all sleeps that have ended.
    public internal(set) var slept = Duration.zero
    /// The number of sleeps, including the current one.
    public internal(set) var sleeps = 0
    /// The wakes per cause.
    public internal(set) var wakes: [WakeCause: Int] = [:]
    /// The cause of the last wake, or nil.
    public internal(set) var lastCause: WakeCause?
    /// The time of the last change.
    public internal(set) var lastChange: Instant

    init(identity: SleeperIdentity, now: Instant) {
        self.identity = identity
        lastChange = now
    }

    /// Merges the histories of several links, the last changed one first. A host that slept on two links has one history
    /// with the sums of both.
    public static func merged(_ histories: [SleepHistory]) -> [SleepHistory] {
        let merged = histories.reduce(into: [MACAddress: SleepHistory]()) { merged, history in
            let card = history.identity.card
            merged[card] = merged[card].map { $0.adding(history) } ?? history
        }
        return merged.values.sorted(by: isNewer)
    }

    private func adding(_ other: SleepHistory) -> SleepHistory {
        let (newer, older) = Self.isNewer(self, other) ? (self, other) : (other, self)
        var sum = newer
        sum.asleepSince = newer.asleepSince ?? older.asleepSince
        sum.slept += older.slept
        sum.sleeps += older.sleeps
        sum.wakes.merge(older.wakes) { $0 + $1 }
        sum.lastCause = newer.lastCause ?? older.lastCause
        return sum
    }

    static func isNewer(_ left: SleepHistory, _ right: SleepHistory) -> Bool {
        (right.lastChange, left.identity.card.rawValue) < (left.lastChange, right.identity.card.rawValue)
    }
}

/// The state of the proxy for status pages and metrics.
public struct SleepProxyReport: Hashable, Sendable {
    /// One sleeper.
    public struct Sleeper: Hashable, Sendable {
        /// The states of a sleeper.
        public enum State: String, Hashable, Sendable, CaseIterable {
            /// The proxy restarted, or the link changed, and the proxy checks whether the host is still silent.
            case recovering
            /// The host registered and is not silent yet.
            case settling
            /// The proxy answers for the host.
            case asleep
            /// The proxy sends magic packets.
            case waking
        }

        /// The host name and the card.
        public let identity: SleeperIdentity
        /// The addresses.
        public let addresses: [IPAddress]
        /// The number of records.
        public let records: Int
        /// The state.
        public let state: State
        /// The time of the registration.
        public let since: Instant
        /// The end of the lease.
        public let expires: Instant
        /// The wakes per cause since the proxy has known this card.
        public let wakes: [WakeCause: Int]
        /// The cause of the last wake, or nil.
        public let lastCause: WakeCause?
    }

    /// The sleepers, in the order of their cards.
    public internal(set) var sleepers: [Sleeper] = []
    /// The histories of hosts that sleep or have slept here, the last changed one first. At most
    /// ``SleepProxyLimits/rememberedHosts``.
    public internal(set) var histories: [SleepHistory] = []
    /// The registrations that were accepted since the proxy was created.
    public internal(set) var registrations = 0
    /// The refused registrations per reason since the proxy was created.
    public internal(set) var refusals: [RefusalReason: Int] = [:]
    /// The wakes per cause since the proxy was created.
    public internal(set) var wakes: [WakeCause: Int] = [:]
    /// The wakes that a limit prevented.
    public internal(set) var suppressedWakes = 0
    /// The hosts that returned after a wake.
    public internal(set) var returns = 0
    /// The hosts that did not return after a wake.
    public internal(set) var failedWakes = 0
    /// The leases that ended without a return.
    public internal(set) var expirations = 0
}
