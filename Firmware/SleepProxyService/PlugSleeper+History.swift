import DNSWire
import PlugModel
import ProtocolCore
import SleepProxy

/// The cause of the machine. Inside of `PlugSleeper`, its name means the cause of a report.
private typealias SleepProxyCause = WakeCause

extension PlugSleeper {
    /// Returns the sleepers for controllers, sorted by name. If there are more than ``limit``, those that sleep are
    /// preferred, then those whose report changed last.
    static func list(of histories: [SleepHistory]) -> [PlugSleeper] {
        let merged = SleepHistory.merged(histories)
        let chosen = merged.filter { $0.asleepSince != nil } + merged.filter { $0.asleepSince == nil }
        return chosen.prefix(limit).map { PlugSleeper($0) }.sorted { ($0.host, $0.card) < ($1.host, $1.card) }
    }

    private init(_ history: SleepHistory) {
        self.init(
            host: "\(history.identity.host)", card: "\(history.identity.card)",
            addresses: Self.reachable(history.addresses).map { "\($0)" },
            asleepSince: history.asleepSince.map {
                Instant(nanoseconds: $0.nanoseconds - $0.nanoseconds % 1_000_000_000)
            },
            sleptSeconds: history.slept.components.seconds, sleeps: UInt32(clamping: history.sleeps),
            lastCause: history.lastCause.flatMap { WakeCause($0) })
        for (cause, count) in history.wakes {
            if let cause = WakeCause(cause) { wakes[cause] = UInt32(clamping: count) }
        }
    }

    /// The addresses for controllers, IPv4 first. A link-local IPv6 address is useless without an interface.
    private static func reachable(_ addresses: [IPAddress]) -> ArraySlice<IPAddress> {
        let version4 = addresses.filter { $0.family == .v4 }
        return (version4 + addresses.filter { $0.family == .v6 && !$0.isLinkLocal }).prefix(addressLimit)
    }
}

extension PlugSleeper.WakeCause {
    fileprivate init?(_ cause: SleepProxyCause) {
        switch cause {
        case .connection: self = .connection
        case .datagram: self = .datagram
        case .addressConflict: self = .addressConflict
        case .nameConflict: self = .nameConflict
        case .betterProxy: self = .betterProxy
        case .leaseEnd: self = .leaseEnd
        // A proxy that is turned off reports no hosts.
        case .disabled: return nil
        }
    }
}
