import ProtocolCore

/// Which server of a list is tried next and when, and what a person is told of it.
struct Reconnection: Sendable {
    static let longestWait = Duration.seconds(60)
    /// After another program took the session. Two programs with one identity would take it from each other over and over, and each would
    /// tell all of it anew.
    static let contestPause = Duration.seconds(600)
    /// A connection that ends sooner is no sign that the broker is well again. Where another program takes the session, mosquitto 2.0 ends
    /// the connection without a reason.
    static let steadiness = Duration.seconds(3)
    /// So many of these one after the other are told.
    private static let shortLimit = 3

    private let servers: Int
    private var random: SeededRandom
    /// Its place in the list.
    private(set) var server = 0
    /// Since the last steady connection.
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

    /// The server was not reached.
    ///
    /// - Parameter reason: nil where another program has the session.
    mutating func failed(_ reason: String?) -> [BrokerNotice] {
        failures += 1
        guard let reason, failures >= servers, !hasToldUnreachable else { return [] }
        hasToldUnreachable = true
        return [.unreachable(reason: reason)]
    }

    /// A connection ended.
    ///
    /// - Parameter reason: nil where another program has the session.
    mutating func lost(_ reason: String?, _ now: Instant) -> [BrokerNotice] {
        let isShort = now - connectedAt < Self.steadiness
        // A short one counts as a round of the whole list.
        (failures, shortConnections) = isShort ? (failures + servers, shortConnections + 1) : (0, 0)
        guard let reason else { return [.takenOver] }
        return [.lost(reason: reason)] + (shortConnections == Self.shortLimit ? [.unsteady] : [])
    }

    /// Takes the next server; when it is tried.
    ///
    /// All servers of the list at once, and then ever longer waits, so that a thousand houses do not come back in the same moment.
    mutating func next(isTakenOver: Bool, _ now: Instant) -> Instant {
        server = (server + 1) % servers
        guard !isTakenOver else { return now + Self.contestPause }
        let rounds = failures / servers
        guard rounds > 0 else { return now + .milliseconds(Int64.random(in: 50...250, using: &random)) }
        let seconds = min(Self.longestWait.inSeconds, Double(1 << min(rounds - 1, 6)))
        return now + .seconds(seconds * Double.random(in: 0.5...1, using: &random))
    }
}
