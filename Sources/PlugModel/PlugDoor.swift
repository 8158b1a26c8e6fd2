/// A way to command a plug that is no session of its own protocol.
public enum PlugDoor: Hashable, Sendable, CaseIterable {
    /// The plug's MQTT broker.
    case broker
    /// The HomeKit Accessory Protocol.
    case homeKit

    /// As causes of events name it.
    public var name: String {
        switch self {
        case .broker: "MQTT broker"
        case .homeKit: "HomeKit"
        }
    }

    /// In whose name its commands are known.
    public var authority: AuthorityID {
        switch self {
        case .broker: .broker
        case .homeKit: .homeKit
        }
    }

    /// What it may do.
    public var role: Role {
        switch self {
        case .broker, .homeKit: .user
        }
    }

    public var auditActor: AuditActor {
        switch self {
        case .broker: .broker
        case .homeKit: .homeKit
        }
    }
}

/// A command that came through a door.
public struct DoorCommand: Hashable, Sendable {
    public var door: PlugDoor
    /// Who asked, as the door knows them, such as the beginning of a HomeKit controller's id; nil where it cannot tell.
    public var member: String?
    /// The door's own number, with which it is answered.
    public var ticket: UInt64
    public var request: RequestID
    public var command: PlugCommand
    /// How long it may be acted on.
    public var within: Duration

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

    /// As causes of events name whoever asked: `MQTT broker`, `HomeKit 5C2E81A0`.
    public var askerName: String { member.map { "\(door.name) \($0)" } ?? door.name }
}
