import ProtocolCore

/// Selects the next server of a list and the time of the next attempt, and reports changes to the user.
struct Reconnection: Sendable {
    static let longestWait = Duration.seconds(60)
    /// The wait after another program took the session over. Two programs with one identity would otherwise take the
    /// session over repeatedly, and each would publish all messages every time.
    static let contestPause = Duration.seconds(600)
    /// The duration after which a connection counts as steady. A shorter connection does not show that the broker works
    /// again. For example, another program may have taken the session over: mosquitto 2.0 gives no reason when it then
    /// ends the connection.
    static let steadiness = Duration.seconds(3)
    /// The number of consecutive short connections at which ``BrokerNotice/unsteady`` is reported.
    private static let shortLimit = 3

    private let servers: Int
    private var random: SeededRandom
    /// The index in the list of the server to connect to.
    private(set) var server = 0
    /// The number of failures since the last steady connection.
    private var failures = 0
    private var shortConnections = 0
    private var connectedAt = Instant.zero
    private var hasToldUnreachable = false

    init(servers: Int, random: SeededRandom) {
        self.servers = servers
        self.random = random
    }

    mutating func connected(_ now: Instant) {
        hasToldUnreachable = false
        connectedAt = now
    }

    /// Notes that the server was not reached.
    ///
    /// - Parameter reason: nil if another program took the session over.
    mutating func failed(_ reason: String?) -> [BrokerNotice] {
        failures += 1
        guard let reason, failures >= servers, !hasToldUnreachable else { return [] }
        hasToldUnreachable = true
        return [.unreachable(reason: reason)]
    }

    /// Notes that a connection ended.
    ///
    /// - Parameter reason: nil if another program took the session over.
    mutating func lost(_ reason: String?, _ now: Instant) -> [BrokerNotice] {
        let isShort = now - connectedAt < Self.steadiness
        // A short connection counts as a failed round of the whole list.
        (failures, shortConnections) = isShort ? (failures + servers, shortConnections + 1) : (0, 0)
        guard let reason else { return [.takenOver] }
        return [.lost(reason: reason)] + (shortConnections == Self.shortLimit ? [.unsteady] : [])
    }

    /// Selects the next server. Returns the time of the attempt.
    ///
    /// In the first round each server of the list is tried after 50 to 250 ms. The waits then increase up to
    /// ``longestWait``, with jitter so that a thousand houses do not reconnect at the same time. After another program
    /// took the session over, the wait is ``contestPause``.
    mutating func next(isTakenOver: Bool, _ now: Instant) -> Instant {
        server = (server + 1) % servers
        guard !isTakenOver else { return now + Self.contestPause }
        let rounds = failures / servers
        guard rounds > 0 else { return now + .milliseconds(Int64.random(in: 50...250, using: &random)) }
        let seconds = min(Self.longestWait.inSeconds, Double(1 << min(rounds - 1, 6)))
        return now + .seconds(seconds * Double.random(in: 0.5...1, using: &random))
    }
}
