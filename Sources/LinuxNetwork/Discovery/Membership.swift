import DNSWire
import ProtocolCore

/// When the membership in the multicast group was proven last, for each family of an interface.
///
/// A switch that snoops on memberships forgets them when no router asks for them (RFC 4541), and drivers lose their filters:
/// then nothing is heard any more, without an error. So whoever has heard nobody for a while joins again, which sends a report.
struct Membership {
    /// Less than the 260 s after which a switch forgets a member (RFC 3376 §8.4).
    static let silence = Duration.seconds(120)

    private var proven: [IPFamily: Instant] = [:]

    /// Another host was heard, or the group was joined.
    mutating func note(_ family: IPFamily, now: Instant) { proven[family] = now }

    mutating func forget(_ family: IPFamily) { proven[family] = nil }

    /// The families to join again; they count as joined.
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
