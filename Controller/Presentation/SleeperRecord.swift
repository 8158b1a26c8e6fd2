import LinuxSystem
public import PlugModel
import SleepClient

/// A host that sleeps, or has slept, while a plug's sleep proxy represents it. The numbers count since the start of the
/// plug's firmware.
public struct SleeperRecord: Codable, Hashable, Sendable {
    /// The host name, such as nas.local.
    public var host: String
    /// The hardware address.
    public var card: String
    /// The addresses at which it can be reached when it is awake.
    public var addresses: [String]
    /// asleep, or awake if the host does not sleep at this plug.
    public var state: String
    /// The begin of the current sleep in ISO 8601, UTC, milliseconds; omitted if the host does not sleep at this plug.
    public var asleepSince: String?
    /// The duration of all sleeps that have ended, in whole seconds.
    public var sleptSeconds: Int64
    /// The number of sleeps, including the current one.
    public var sleeps: UInt32
    /// The number of wakes per cause: connection, datagram, addressConflict, nameConflict, betterProxy, leaseEnd.
    public var wakes: [String: UInt32]
    /// The cause of the last wake; omitted if the host was never woken.
    public var lastCause: String?

    /// Creates the record of a sleeper.
    ///
    /// - Parameter clock: the clock of the plug; without it the begin of the sleep is unknown.
    public init(_ sleeper: PlugSleeper, clock: PlugClock?) {
        host = sleeper.host
        card = sleeper.card
        addresses = sleeper.addresses
        state = sleeper.asleepSince == nil ? Self.awake : Self.asleep
        asleepSince = sleeper.asleepSince.flatMap { clock?.wallTime(ofPlugTime: $0).iso8601() }
        sleptSeconds = sleeper.sleptSeconds
        sleeps = sleeper.sleeps
        wakes = Dictionary(uniqueKeysWithValues: sleeper.wakes.map { ($0.key.rawValue, $0.value) })
        lastCause = sleeper.lastCause?.rawValue
    }

    private static let asleep = "asleep"
    private static let awake = "awake"

    /// True while the host sleeps.
    public var isAsleep: Bool { state == Self.asleep }

    /// Returns the records of a state, or nil without sleepers, so that the key is omitted.
    public static func records(_ sleepers: [PlugSleeper], clock: PlugClock?) -> [SleeperRecord]? {
        sleepers.isEmpty ? nil : sleepers.map { SleeperRecord($0, clock: clock) }
    }

    /// Text for the user.
    var lines: [String] {
        let since = asleepSince.map { " since \($0)" } ?? ""
        var lines = ["  sleeper       \(host) (\(card)), \(state)\(since)"]
        if sleptSeconds > 0 || !isAsleep {
            let current = isAsleep ? ", without the current sleep" : ""
            lines.append("    slept       \(Duration.seconds(sleptSeconds).inWords)\(current)")
        }
        lines.append("    sleeps      \(sleeps)")
        let counts = PlugSleeper.WakeCause.allCases.compactMap { cause in
            wakes[cause.rawValue].map { "\(cause.words) \($0)" }
        }
        if !counts.isEmpty { lines.append("    woken       \(counts.joined(separator: ", "))") }
        if counts.count > 1, let last = lastCause.flatMap(PlugSleeper.WakeCause.init(rawValue:)) {
            lines.append("    last wake   \(last.words)")
        }
        return lines
    }
}

extension PlugSleeper.WakeCause {
    /// The cause in words for the user.
    fileprivate var words: String {
        switch self {
        case .connection: "connection"
        case .datagram: "datagram"
        case .addressConflict: "address conflict"
        case .nameConflict: "name conflict"
        case .betterProxy: "better sleep proxy"
        case .leaseEnd: "end of the lease"
        }
    }
}
