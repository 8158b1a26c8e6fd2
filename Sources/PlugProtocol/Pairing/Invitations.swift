import PlugModel
internal import ProtocolCore

/// Codes that an owner gave away, each for one pairing. A restart of the firmware ends them.
struct Invitations: Sendable {
    /// Stops an owner's program from leaving more open ways in than anybody remembers.
    static let limit = 4
    static let validity = Duration.seconds(86_400)

    private struct Invitation: Sendable {
        let code: SetupCode
        let grant: Grant
        let until: Instant
    }

    private var all: [Invitation] = []

    /// False when there is no room.
    mutating func add(_ code: SetupCode, _ grant: Grant, now: Instant) -> Bool {
        all.removeAll { $0.until <= now || $0.code == code }
        guard all.count < Self.limit else { return false }
        all.append(Invitation(code: code, grant: grant, until: now + Self.validity))
        return true
    }

    func isEmpty(at now: Instant) -> Bool { !all.contains { now < $0.until } }

    /// The invitation whose code this proof shows.
    func grant(at now: Instant, _ fits: (SetupCode) -> Bool) -> (code: SetupCode, grant: Grant)? {
        all.first { now < $0.until && fits($0.code) }.map { ($0.code, $0.grant) }
    }

    mutating func use(_ code: SetupCode) { all.removeAll { $0.code == code } }
}
