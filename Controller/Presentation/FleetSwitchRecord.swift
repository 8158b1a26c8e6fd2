public import Fleet
public import PlugModel

/// The result of switching a plug of one of many houses.
public struct FleetSwitchRecord: Encodable, Hashable, Sendable {
    /// The name of the house.
    public var house: String
    /// The plug's name.
    public var plug: String
    /// The plug's id.
    public var id: String
    /// The resulting state of the relay; nil after a failure.
    public var on: Bool?
    /// The number of the event that records the change; nil if nothing changed, and after a failure.
    public var seq: SequenceNumber?
    /// The reason of a failure.
    public var error: String?

    /// Creates the record of an outcome.
    public init(_ plug: FleetPlug, _ outcome: FleetOutcome) {
        (house, self.plug, id) = (plug.house, plug.plug, plug.id)
        switch outcome {
        case .done(let on, let event): (self.on, seq) = (on, event)
        case .refused, .unanswered, .unreachable: error = outcome.fault
        }
    }

    /// Text for the user, which contains untrusted names.
    public var text: String { "\(house), \(plug): " + (error ?? (on == true ? "on" : "off")) }
}

extension FleetOutcome {
    /// The reason of a failure; nil after success.
    public var fault: String? {
        switch self {
        case .done: nil
        case .refused(let reason): reason
        case .unanswered:
            """
            the house did not answer, so the command has expired; the plug may have executed it before it expired
            hint: the daemon of the house may be away; check with plugctl fleet away
            """
        case .unreachable(let reason): "cannot reach the broker: \(reason)\nhint: check [broker] in fleet.toml"
        }
    }
}
