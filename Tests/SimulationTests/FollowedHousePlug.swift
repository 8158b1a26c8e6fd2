import PlugClient
import PlugModel
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN

/// A plug that the controller follows: ``PlugFollower`` and the state of its shell.
struct FollowedHousePlug {
    enum Link {
        case none
        case resolving(ResolveID, until: Instant)
        case connecting(StreamID, until: Instant)
        case pairing(Introduction)
        case open(StreamID)
    }

    var machine: PlugFollower
    var link = Link.none
    /// The address at which the plug was last found.
    var address: LANAddress?
    var description: PlugDescription?
    /// The time of the reading in the last snapshot. Earlier readings cannot fire a rule.
    var snapshot: Instant?

    var nextDeadline: Instant? {
        switch link {
        case .none, .open: machine.nextDeadline
        case .resolving(_, let until), .connecting(_, let until): sooner(machine.nextDeadline, until)
        case .pairing(let introduction): sooner(machine.nextDeadline, introduction.nextDeadline)
        }
    }
}
