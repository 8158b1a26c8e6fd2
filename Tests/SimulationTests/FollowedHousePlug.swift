import PlugClient
import PlugProtocol
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN

/// A plug that the controller of the simulated house follows: ``PlugFollower`` with what its shell knows.
struct FollowedHousePlug {
    enum Link {
        case none
        case resolving(ResolveID, until: Instant)
        case connecting(StreamID, until: Instant)
        case open(StreamID)
    }

    var machine: PlugFollower
    var link = Link.none
    var description: PlugDescription?
    /// The reading of the last snapshot; what came before it cannot fire a rule.
    var snapshot: Instant?

    var nextDeadline: Instant? {
        switch link {
        case .none, .open: machine.nextDeadline
        case .resolving(_, let until), .connecting(_, let until): sooner(machine.nextDeadline, until)
        }
    }
}

/// What the controller keeps of a plug, and the test reads. Survives everything, as a database does.
struct PlugRecord {
    /// The last event seen.
    private(set) var cursor: SequenceNumber = 0
    private(set) var events: [PlugEvent] = []
    private(set) var gaps: [Gap] = []
    /// Requests that took effect since the plug started last: it remembers none from before.
    private var effects: Set<RequestID> = []

    /// What the event goes against, or nil.
    mutating func take(_ event: PlugEvent) -> String? {
        defer { cursor = event.sequence }
        events.append(event)
        if event.sequence != cursor + 1 { return "event \(event.sequence) came after \(cursor)" }
        switch event.kind {
        case .restarted: effects = []
        case .relayChanged(_, cause: .controller(_, let request)):
            if !effects.insert(request).inserted { return "event \(event.sequence): a command took effect twice" }
        case .relayChanged, .buttonPressed, .protectionTripped: break
        }
        return nil
    }

    mutating func take(_ gap: Gap) -> String? {
        defer { cursor = gap.to }
        gaps.append(gap)
        // A gap may hide a restart.
        effects = []
        return gap.from == cursor + 1 ? nil : "a gap from \(gap.from) after \(cursor)"
    }
}
