import PlugModel
internal import ProtocolCore

/// Codes that owners gave away, each for one pairing. They end with a restart of the firmware, with a new setup code, and with their
/// author's right to invite.
struct Invitations: Sendable {
    /// Stops an owner's program from leaving more open ways in than anybody remembers.
    static let limit = 4
    static let validity = Duration.seconds(86_400)

    struct Invitation: Sendable {
        let number: UInt32
        let author: AuthorityID
        fileprivate let code: SetupCode
        let grant: Grant
        let until: Instant
    }

    private var all: [Invitation] = []
    private var nextNumber: UInt32 = 1

    /// False when there is no room.
    mutating func add(_ code: SetupCode, _ grant: Grant, by author: AuthorityID, now: Instant) -> Bool {
        all.removeAll { $0.until <= now || $0.code == code }
        guard all.count < Self.limit, nextNumber < .max else { return false }
        all.append(
            Invitation(number: nextNumber, author: author, code: code, grant: grant, until: now + Self.validity))
        nextNumber += 1
        return true
    }

    /// Those that can still be used, oldest first.
    func open(at now: Instant) -> [Invitation] { all.filter { now < $0.until } }

    func isEmpty(at now: Instant) -> Bool { !all.contains { now < $0.until } }

    /// The invitation whose code this proof shows.
    func grant(at now: Instant, _ fits: (SetupCode) -> Bool) -> (code: SetupCode, grant: Grant)? {
        all.first { now < $0.until && fits($0.code) }.map { ($0.code, $0.grant) }
    }

    mutating func use(_ code: SetupCode) { all.removeAll { $0.code == code } }

    mutating func revoke(_ number: UInt32) { all.removeAll { $0.number == number } }

    /// The author may not invite any more, or has another key.
    mutating func revoke(by author: AuthorityID) { all.removeAll { $0.author == author } }

    mutating func revokeAll() { all = [] }
}
