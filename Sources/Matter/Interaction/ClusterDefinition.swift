/// The definition of a cluster on an endpoint: the attributes, commands and events that it supports there.
///
/// The interaction server checks paths, privileges and timed requests with it before it calls the node.
public struct ClusterDefinition: Hashable, Sendable {
    /// The cluster id.
    public var id: UInt32
    /// The name in the specification.
    public var name: String
    /// The value of the attribute ClusterRevision.
    public var revision: UInt16
    /// The value of the attribute FeatureMap.
    public var features: UInt32
    /// The supported attributes, including the global ones.
    public var attributes: [AttributeDefinition]
    /// The commands that the cluster accepts.
    public var commands: [CommandDefinition]
    /// The events that the cluster generates.
    public var events: [EventDefinition]

    /// Creates a definition.
    public init(
        id: UInt32, name: String, revision: UInt16, features: UInt32 = 0, attributes: [AttributeDefinition],
        commands: [CommandDefinition] = [], events: [EventDefinition] = []
    ) {
        (self.id, self.name, self.revision, self.features) = (id, name, revision, features)
        (self.attributes, self.commands, self.events) = (attributes, commands, events)
    }

    /// Returns the attribute with this id, or nil if the cluster does not support it.
    public func attribute(_ id: UInt32) -> AttributeDefinition? { attributes.first { $0.id == id } }
    /// Returns the accepted command with this id, or nil if the cluster does not support it.
    public func command(_ id: UInt32) -> CommandDefinition? { commands.first { $0.id == id } }
    /// Returns the event with this id, or nil if the cluster does not support it.
    public func event(_ id: UInt32) -> EventDefinition? { events.first { $0.id == id } }
}

/// The definition of an attribute (Matter 7.13 for the access, 7.7 for the qualities).
public struct AttributeDefinition: Hashable, Sendable {
    /// The attribute id.
    public var id: UInt32
    /// The name in the specification.
    public var name: String
    /// The privilege that a read requires.
    public var read: Privilege
    /// The privilege that a write requires, or nil if the attribute is read-only.
    public var write: Privilege?
    /// True for a list, which can be reported and written item by item.
    public var isList: Bool
    /// True if each item of the list belongs to a fabric.
    public var isFabricScoped: Bool
    /// True if a write must be part of a timed interaction.
    public var needsTimed: Bool
    /// True if the value can be null.
    public var isNullable: Bool
    /// True if subscriptions do not report changes of the value (quality C).
    public var changesOmitted: Bool
    /// True if the value is stored in flash (quality N).
    public var isNonvolatile: Bool
    /// True if the value never changes (quality F).
    public var isFixed: Bool

    /// Creates a definition.
    public init(
        id: UInt32, name: String, read: Privilege = .view, write: Privilege? = nil, isList: Bool = false,
        isFabricScoped: Bool = false, needsTimed: Bool = false, isNullable: Bool = false, changesOmitted: Bool = false,
        isNonvolatile: Bool = false, isFixed: Bool = false
    ) {
        (self.id, self.name, self.read, self.write) = (id, name, read, write)
        (self.isList, self.isFabricScoped, self.needsTimed) = (isList, isFabricScoped, needsTimed)
        (self.isNullable, self.changesOmitted) = (isNullable, changesOmitted)
        (self.isNonvolatile, self.isFixed) = (isNonvolatile, isFixed)
    }

    /// True for the attributes that every cluster has (Matter 7.13): their ids are 0xF000 and higher.
    public var isGlobal: Bool { Self.isGlobal(id) }

    /// Returns true if the id belongs to a global attribute (Matter 7.18.2.5).
    static func isGlobal(_ id: UInt32) -> Bool { (0xF000...0xFFFE).contains(id) }
}

/// The definition of a command that a cluster accepts.
public struct CommandDefinition: Hashable, Sendable {
    /// The command id.
    public var id: UInt32
    /// The name in the specification.
    public var name: String
    /// The id of the response command, or nil if the command is answered with a status.
    public var response: UInt32?
    /// The privilege that the command requires.
    public var privilege: Privilege
    /// True if the command must be part of a timed interaction.
    public var needsTimed: Bool
    /// True if the command requires an accessing fabric.
    public var isFabricScoped: Bool

    /// Creates a definition.
    public init(
        id: UInt32, name: String, response: UInt32? = nil, privilege: Privilege = .operate, needsTimed: Bool = false,
        isFabricScoped: Bool = false
    ) {
        (self.id, self.name, self.response, self.privilege) = (id, name, response, privilege)
        (self.needsTimed, self.isFabricScoped) = (needsTimed, isFabricScoped)
    }
}

/// The definition of an event.
public struct EventDefinition: Hashable, Sendable {
    /// The event id.
    public var id: UInt32
    /// The name in the specification.
    public var name: String
    /// The priority: 0 debug, 1 info, 2 critical.
    public var priority: UInt8
    /// The privilege that a read requires.
    public var read: Privilege
    /// True if only the fabric that the event concerns may read it.
    public var isFabricSensitive: Bool

    /// Creates a definition.
    public init(
        id: UInt32, name: String, priority: UInt8 = 1, read: Privilege = .view, isFabricSensitive: Bool = false
    ) {
        (self.id, self.name, self.priority, self.read) = (id, name, priority, read)
        self.isFabricSensitive = isFabricSensitive
    }
}
