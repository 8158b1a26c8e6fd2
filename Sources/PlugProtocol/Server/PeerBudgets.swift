internal import ProtocolCore

/// The limits on the work that one peer can cause at a plug.
///
/// The table of budgets in Documentation/explanation/security.md lists them, and a structure test compares the table
/// with these constants. The limits on the size of messages and on the data that waits for a peer are in ``PlugWire``
/// and ``PlugServer/Limits``.
package enum PeerBudgets {
    /// The maximum number of flash writes that requests of an owner may cause at once, and in any hour. Together with
    /// the resulting writes of the audit log, an owner causes fewer than 60 writes per hour.
    static let ownerWritesAtOnce = 12
    static let ownerWritesPerHour = 48
    /// The limits of flash writes for a controller that is not an owner.
    static let guestWritesAtOnce = 6
    static let guestWritesPerHour = 24
    /// The limits of flash writes for all controllers that are not owners, taken together.
    static let allGuestsWritesAtOnce = 20
    static let allGuestsWritesPerHour = 60
    /// The writes of a key announcement: one immediately, and one when the key is first used.
    static let writesOfAnnouncement = 2
    /// The writes of a new role or a removal: the list of controllers and the audit log.
    static let writesOfRightsChange = 2

    /// The maximum number of messages of one controller that is not an owner: at once, and then per second. Further
    /// messages wait unread.
    static let messagesAtOnce = 200
    static let messagesPerSecond = 50
    /// A Hello counts as this number of messages, because a TLS handshake precedes it.
    static let messagesOfHello = 25
    /// A FetchSamples counts as this number of messages.
    static let messagesOfFetch = 10
    /// A Subscribe counts as one message, and as one more for each group of this many requested past events.
    static let pastEventsOfMessage = 16
    /// The maximum number of bytes that may wait unread. A session with more unread bytes ends.
    static let unreadBytes = 262_144

    /// The maximum number of changes at once: of the name and the settings per controller (in total
    /// ``allChangesAtOnce``), and of the setup code. The allowance refills evenly within an hour, so that twice as many
    /// changes are possible in one hour.
    package static let changesAtOnce = 12
    /// The maximum number of changes of the name and the settings at once by all controllers together.
    package static let allChangesAtOnce = 30
}
