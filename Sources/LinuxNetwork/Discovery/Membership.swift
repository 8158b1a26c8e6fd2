import DNSWire
import ProtocolCore

/// The time of the last proof that this host is a member of the multicast group, per address family of an interface.
///
/// A snooping switch forgets memberships if no router queries them (RFC 4541), and drivers can lose their filters.
/// Multicast then no longer arrives, and no call reports an error. So if no other host has been heard for a while, the
/// group is joined again, which sends a membership report.
struct Membership {
    /// The time without a proof after which the group is joined again. It is less than the 260 s after which a switch
    /// forgets a member (RFC 3376 section 8.4).
    static let silence = Duration.seconds(120)

    private var proven: [IPFamily: Instant] = [:]

    /// Records that another host was heard or that the group was joined.
    mutating func note(_ family: IPFamily, now: Instant) { proven[family] = now }

    mutating func forget(_ family: IPFamily) { proven[family] = nil }

    /// Returns the families whose group must be joined again, and records them as joined.
    mutating func takeDue(now: Instant) -> [IPFamily] {
        let due = IPFamily.allCases.filter { proven[$0].map { now - $0 >= Self.silence } ?? false }
        for family in due { proven[family] = now }
        return due
    }

    var deadline: Instant? { proven.values.min().map { $0 + Self.silence } }
}

extension Discovery {
    var membershipDeadline: Instant? { links.values.reduce(nil) { sooner($0, $1.membership.deadline) } }

    func renewMemberships(now: Instant) {
        guard let deadline = membershipDeadline, deadline <= now else { return }
        for id in links.keys.sorted() {
            for family in links[id]?.membership.takeDue(now: now) ?? [] { links[id]?.sockets[family]?.joinAgain() }
        }
    }
}
