import MatterWire

/// The data type of an attribute, with the limit that a written value must meet.
enum ValueType: Hashable, Sendable {
    case boolean
    /// An unsigned integer of at most this value.
    case unsigned(max: UInt64)
    /// A signed integer of 64 bits.
    case signed
    /// A text of at most so many bytes.
    case text(max: Int)
    /// An octet string of at most so many bytes.
    case bytes(max: Int)
    case structure
    case list

    static let uint8 = ValueType.unsigned(max: 0xFF)
    static let uint16 = ValueType.unsigned(max: 0xFFFF)
    static let uint32 = ValueType.unsigned(max: 0xFFFF_FFFF)
    static let uint64 = ValueType.unsigned(max: .max)

    /// Returns the status that rejects a value, or nil if the value has this type and is within its limit.
    func rejection(of value: TLVValue) -> InteractionStatusCode? {
        switch self {
        case .boolean: value.asBoolean == nil ? .invalidDataType : nil
        case .unsigned(let most): value.asUnsigned.map { $0 <= most ? nil : .constraintError } ?? .invalidDataType
        case .signed: value.asSigned == nil ? .invalidDataType : nil
        case .text(let most): value.asText.map { $0.utf8.count <= most ? nil : .constraintError } ?? .invalidDataType
        case .bytes(let most): value.asBytes.map { $0.count <= most ? nil : .constraintError } ?? .invalidDataType
        case .structure: if case .structure = value { nil } else { .invalidDataType }
        case .list: value.elements == nil ? .invalidDataType : nil
        }
    }
}

/// The conformance of an element (Matter 7.3). An element belongs to a cluster if the cluster has all of its features.
/// The table only lists optional elements that the plug supports.
struct Conformance: Hashable, Sendable {
    /// True if the specification requires the element for clusters with its features.
    let isMandatory: Bool
    /// The bits of the required features.
    let features: UInt32

    static let mandatory = Conformance(isMandatory: true, features: 0)
    static let optional = Conformance(isMandatory: false, features: 0)

    /// Mandatory for clusters that have all of these features.
    static func with(_ features: UInt32) -> Conformance { Conformance(isMandatory: true, features: features) }

    /// Optional for clusters that have all of these features.
    static func optional(with features: UInt32) -> Conformance { Conformance(isMandatory: false, features: features) }

    /// Returns true if a cluster with these features has the element.
    func applies(to features: UInt32) -> Bool { features & self.features == self.features }
}

/// The qualities of an attribute (Matter 7.7). The letters are the specification's.
struct Qualities: OptionSet, Hashable, Sendable {
    let rawValue: UInt16

    /// X: the value can be null.
    static let nullable = Qualities(rawValue: 1 << 0)
    /// N: the value is stored in flash.
    static let nonvolatile = Qualities(rawValue: 1 << 1)
    /// F: the value never changes.
    static let fixed = Qualities(rawValue: 1 << 2)
    /// C: subscriptions do not report changes.
    static let changesOmitted = Qualities(rawValue: 1 << 3)
    /// S: a scene contains the value.
    static let scene = Qualities(rawValue: 1 << 4)
    /// Q: changes are reported at a limited rate.
    static let quieter = Qualities(rawValue: 1 << 5)
    /// F in the access column: each item of the list belongs to a fabric.
    static let fabricScoped = Qualities(rawValue: 1 << 6)
    /// T in the access column: a write must be part of a timed interaction.
    static let timed = Qualities(rawValue: 1 << 7)
}

/// A feature of a cluster.
struct FeatureRow: Hashable, Sendable {
    let bits: UInt32
    let code: String

    init(_ bits: UInt32, _ code: String) { (self.bits, self.code) = (bits, code) }
}

/// An attribute in the table.
struct AttributeRow: Hashable, Sendable {
    let id: UInt32
    let name: String
    let type: ValueType
    let conformance: Conformance
    let read: Privilege
    let write: Privilege?
    let qualities: Qualities

    init<ID: RawRepresentable<UInt32>>(
        _ id: ID, _ name: String, _ type: ValueType, _ conformance: Conformance, read: Privilege = .view,
        write: Privilege? = nil, _ qualities: Qualities = []
    ) {
        (self.id, self.name, self.type, self.conformance) = (id.rawValue, name, type, conformance)
        (self.read, self.write, self.qualities) = (read, write, qualities)
    }

    /// Creates the row of a mandatory attribute.
    init<ID: RawRepresentable<UInt32>>(
        _ id: ID, _ name: String, _ type: ValueType, read: Privilege = .view, write: Privilege? = nil,
        _ qualities: Qualities = []
    ) {
        self.init(id, name, type, .mandatory, read: read, write: write, qualities)
    }

    var definition: AttributeDefinition {
        AttributeDefinition(
            id: id, name: name, read: read, write: write, isList: type == .list,
            isFabricScoped: qualities.contains(.fabricScoped), needsTimed: qualities.contains(.timed),
            isNullable: qualities.contains(.nullable), changesOmitted: qualities.contains(.changesOmitted),
            isNonvolatile: qualities.contains(.nonvolatile), isFixed: qualities.contains(.fixed))
    }

    /// Returns the status that rejects a value, or nil if the value has the attribute's type. With `isItem`, the value
    /// is one item of a list, which only its cluster can check.
    func rejection(of value: TLVValue, isItem: Bool) -> InteractionStatusCode? {
        if isItem { return type == .list ? nil : .invalidAction }
        if value.isNull { return qualities.contains(.nullable) ? nil : .invalidDataType }
        return type.rejection(of: value)
    }
}

/// A command in the table.
struct CommandRow: Hashable, Sendable {
    let definition: CommandDefinition
    let conformance: Conformance

    init<ID: RawRepresentable<UInt32>>(
        _ id: ID, _ name: String, response: UInt32? = nil, _ conformance: Conformance = .mandatory,
        _ privilege: Privilege = .operate, isTimed: Bool = false, isFabricScoped: Bool = false
    ) {
        definition = CommandDefinition(
            id: id.rawValue, name: name, response: response, privilege: privilege, needsTimed: isTimed,
            isFabricScoped: isFabricScoped)
        self.conformance = conformance
    }
}

/// An event in the table.
struct EventRow: Hashable, Sendable {
    let definition: EventDefinition
    let conformance: Conformance

    init<ID: RawRepresentable<UInt32>>(
        _ id: ID, _ name: String, priority: EventPriority = .info, _ conformance: Conformance = .mandatory,
        read: Privilege = .view, isFabricSensitive: Bool = false
    ) {
        definition = EventDefinition(
            id: id.rawValue, name: name, priority: priority.rawValue, read: read, isFabricSensitive: isFabricSensitive)
        self.conformance = conformance
    }
}

/// The priority of an event (Matter 7.14.1.3).
enum EventPriority: UInt8, Sendable {
    case info = 1
    case critical = 2
}

/// A cluster in the table: all parts of its specification that the plug uses.
struct ClusterRow: Hashable, Sendable {
    let id: ClusterID
    let name: String
    let revision: UInt16
    /// The features that the plug has.
    let features: [FeatureRow]
    let attributes: [AttributeRow]
    let commands: [CommandRow]
    let events: [EventRow]

    init(
        _ id: ClusterID, _ name: String, revision: UInt16, features: [FeatureRow] = [], attributes: [AttributeRow] = [],
        commands: [CommandRow] = [], events: [EventRow] = []
    ) {
        (self.id, self.name, self.revision, self.features) = (id, name, revision, features)
        (self.attributes, self.commands, self.events) = (attributes, commands, events)
    }

    /// The value of the attribute FeatureMap.
    var featureMap: UInt32 { features.reduce(0) { $0 | $1.bits } }

    /// The definition for the interaction server, with the global attributes.
    var definition: ClusterDefinition {
        let map = featureMap
        let rows = attributes.filter { $0.conformance.applies(to: map) }
        return ClusterDefinition(
            id: id.rawValue, name: name, revision: revision, features: map,
            attributes: (rows + Self.globalAttributes).map(\.definition).sorted { $0.id < $1.id },
            commands: commands.filter { $0.conformance.applies(to: map) }.map(\.definition),
            events: events.filter { $0.conformance.applies(to: map) }.map(\.definition))
    }

    /// The global attributes, which every cluster has (Matter 7.13).
    static let globalAttributes = [
        AttributeRow(GlobalAttribute.generatedCommandList, "GeneratedCommandList", .list, [.fixed]),
        AttributeRow(GlobalAttribute.acceptedCommandList, "AcceptedCommandList", .list, [.fixed]),
        AttributeRow(GlobalAttribute.attributeList, "AttributeList", .list, [.fixed]),
        AttributeRow(GlobalAttribute.featureMap, "FeatureMap", .uint32, [.fixed]),
        AttributeRow(GlobalAttribute.clusterRevision, "ClusterRevision", .uint16, [.fixed]),
    ]
}

extension ClusterDefinition {
    /// Returns the value of a global attribute.
    func value(of attribute: GlobalAttribute) -> TLVValue {
        switch attribute {
        case .generatedCommandList: .numbers(Set(commands.compactMap(\.response)).sorted())
        case .acceptedCommandList: .numbers(commands.map(\.id).sorted())
        case .attributeList: .numbers(attributes.map(\.id).sorted())
        case .featureMap: .unsigned(UInt64(features))
        case .clusterRevision: .unsigned(UInt64(revision))
        }
    }
}
