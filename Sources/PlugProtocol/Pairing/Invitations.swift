import PlugModel
internal import ProtocolCore

/// The open invitations, each with a code for one pairing. An unused invitation ends when an owner revokes it, after
/// ``validity``, with a restart of the firmware, with a new setup code, or when its author loses the right to invite or
/// changes its key.
struct Invitations: Sendable {
    /// The maximum number of open invitations. The limit keeps a faulty program of an owner from opening many ways into
    /// the plug.
    static let limit = 4
    /// The time until an invitation expires.
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

    /// Adds an invitation, which replaces an earlier one with the same code. Returns false if ``limit`` other
    /// invitations are open.
    mutating func add(_ code: SetupCode, _ grant: Grant, by author: AuthorityID, now: Instant) -> Bool {
        all.removeAll { $0.until <= now || $0.code == code }
        guard all.count < Self.limit, nextNumber < .max else { return false }
        all.append(
            Invitation(number: nextNumber, author: author, code: code, grant: grant, until: now + Self.validity))
        nextNumber += 1
        return true
    }

    /// Returns the invitations that can still be used, oldest first.
    func open(at now: Instant) -> [Invitation] { all.filter { now < $0.until } }

    func isEmpty(at now: Instant) -> Bool { !all.contains { now < $0.until } }

    /// Returns the code and grant of the invitation that a proof matches, or nil if it matches none.
    func grant(at now: Instant, _ fits: (SetupCode) -> Bool) -> (code: SetupCode, grant: Grant)? {
        all.first { now < $0.until && fits($0.code) }.map { ($0.code, $0.grant) }
    }

    mutating func use(_ code: SetupCode) { all.removeAll { $0.code == code } }

    mutating func revoke(_ number: UInt32) { all.removeAll { $0.number == number } }

    /// Revokes all invitations of an author who lost the right to invite or changed its key.
    mutating func revoke(by author: AuthorityID) { all.removeAll { $0.author == author } }

    mutating func revokeAll() { all = [] }
}
