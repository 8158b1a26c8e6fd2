internal import ProtocolCore

/// The limits on what one peer can cause at a plug.
///
/// The table of budgets in Documentation/explanation/security.md lists them, and a structure test compares the table with these
/// constants. The limits on the size of messages and on what waits for a peer are in ``PlugWire`` and ``PlugServer/Limits``.
package enum PeerBudgets {
    /// Writes to flash that requests of an owner may cause at once, and in any hour. With the writes of the audit log that they
    /// cause, an owner stays below 60 per hour.
    static let ownerWritesAtOnce = 12
    static let ownerWritesPerHour = 48
    /// These limits for a controller that is not an owner.
    static let guestWritesAtOnce = 6
    static let guestWritesPerHour = 24
    /// These limits for all controllers together that are not owners.
    static let allGuestsWritesAtOnce = 20
    static let allGuestsWritesPerHour = 60
    /// Announcing a key costs two writes: one now, and one when the key is first used.
    static let writesOfAnnouncement = 2
    /// A new role and a removal cost two writes: the list of controllers and the audit log.
    static let writesOfRightsChange = 2

    /// Messages of one controller that is not an owner: at once, and per second after that. Its further messages wait unread.
    static let messagesAtOnce = 200
    static let messagesPerSecond = 50
    /// A Hello counts as this many messages, because a TLS handshake precedes it.
    static let messagesOfHello = 25
    /// FetchSamples counts as this many messages.
    static let messagesOfFetch = 10
    /// Subscribe counts as one more message for each this many past events that it asks for.
    static let pastEventsOfMessage = 16
    /// Bytes that may wait unread. A session with more unread bytes ends.
    static let unreadBytes = 262_144

    /// Changes of the name and the settings, and of the setup code, at once. They come back evenly within an hour, so that twice as many
    /// are possible in one hour.
    package static let changesAtOnce = 12
    package static let allChangesAtOnce = 30
}

/// Tokens that come back at a steady rate.
struct Allowance: Sendable {
    private let burst: Int
    private let interval: Duration
    /// The time at which all tokens will be back.
    private var fullAt = Instant.zero

    /// - Parameters:
    ///   - burst: the number of tokens that can be spent at once.
    ///   - interval: the time after which one token is back.
    init(burst: Int, interval: Duration) { (self.burst, self.interval) = (burst, interval) }

    /// - Parameter perHour: the maximum number of tokens in any hour.
    init(atOnce burst: Int, perHour: Int) {
        self.init(burst: burst, interval: Duration.seconds(3600) / (perHour - burst))
    }

    /// The time at which this many tokens are available; nil if they are available now.
    func available(_ count: Int, now: Instant) -> Instant? {
        let time = fullAt - interval * (burst - count)
        return time <= now ? nil : time
    }

    /// Consumes tokens, also more than are available; then the next ones are available later.
    mutating func spend(_ count: Int, now: Instant) { fullAt = max(fullAt, now) + interval * count }
}
