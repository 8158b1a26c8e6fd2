/// A way to command a plug without a session of the plug protocol.
public enum PlugDoor: Hashable, Sendable, CaseIterable {
    /// The plug's MQTT broker.
    case broker
    /// The HomeKit Accessory Protocol.
    case homeKit
    /// Matter.
    case matter

    /// The name in the causes of events.
    public var name: String {
        switch self {
        case .broker: "MQTT broker"
        case .homeKit: "HomeKit"
        case .matter: "Matter"
        }
    }

    /// The authority under which the plug records commands from this door.
    public var authority: AuthorityID {
        switch self {
        case .broker: .broker
        case .homeKit: .homeKit
        case .matter: .matter
        }
    }

    /// The role of all clients of this door.
    public var role: Role {
        switch self {
        case .broker, .homeKit, .matter: .user
        }
    }

    /// The actor in the audit log.
    public var auditActor: AuditActor {
        switch self {
        case .broker: .broker
        case .homeKit: .homeKit
        case .matter: .matter
        }
    }
}

/// A command that arrived through a door.
public struct DoorCommand: Hashable, Sendable {
    /// The door that received the command.
    public var door: PlugDoor
    /// The client as the door knows it, such as the start of a HomeKit controller's id, or the fabric index and the node
    /// id of a Matter controller. Nil if the door cannot identify clients.
    public var member: String?
    /// The number that the door chose. The answer has the same number.
    public var ticket: UInt64
    /// The request id, for recognizing a repetition.
    public var request: RequestID
    /// The command.
    public var command: PlugCommand
    /// The time within which the plug must execute the command.
    public var within: Duration

    /// Creates a command that arrived through a door.
    public init(
        _ command: PlugCommand, _ request: RequestID, through door: PlugDoor, by member: String? = nil, ticket: UInt64,
        within: Duration
    ) {
        self.door = door
        self.member = member
        self.ticket = ticket
        self.request = request
        self.command = command
        self.within = within
    }

    /// The client's name in the causes of events: `MQTT broker`, `HomeKit 5C2E81A0`,
    /// `Matter 1/000000000001B669`.
    public var askerName: String { member.map { "\(door.name) \($0)" } ?? door.name }
}
