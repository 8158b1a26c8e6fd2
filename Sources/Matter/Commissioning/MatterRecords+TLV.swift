public import MatterWire

extension MatterRecords {
    /// The version of the encoding.
    private static let version: UInt64 = 1

    /// The tags of the records.
    private enum Tag {
        static let version: UInt8 = 0
        static let fabrics: UInt8 = 1
        static let lastFabricIndex: UInt8 = 2
        static let label: UInt8 = 3
        static let plugName: UInt8 = 4
        static let location: UInt8 = 5
        static let regulatoryConfig: UInt8 = 6
        static let startUpOnOff: UInt8 = 7
        static let startUpLevel: UInt8 = 8
        static let eventLimit: UInt8 = 9
        static let lastPress: UInt8 = 10
        static let reboots: UInt8 = 11
    }

    /// The records in TLV.
    public var encoded: [UInt8] {
        TLVValue.fields(
            (Tag.version, .unsigned(Self.version)), (Tag.fabrics, .array(fabrics.map(\.stored))),
            (Tag.lastFabricIndex, .number(lastFabricIndex)), (Tag.label, settings.label.map { .text($0) }),
            (Tag.plugName, settings.plugName.map { .text($0) }), (Tag.location, .text(settings.location)),
            (Tag.regulatoryConfig, .number(settings.regulatoryConfig)),
            (Tag.startUpOnOff, settings.startUpOnOff.map { .number($0) }),
            (Tag.startUpLevel, settings.startUpLevel.map { .number($0) }),
            (Tag.eventLimit, .number(counters.eventLimit)), (Tag.lastPress, .number(counters.lastPress)),
            (Tag.reboots, .number(counters.reboots))
        ).encoded
    }

    /// Decodes stored records.
    ///
    /// - Throws: ``MatterError/damagedRecords(_:)`` if they are damaged or of a later version.
    public init(decoding bytes: [UInt8]) throws(MatterError) {
        let value: TLVValue
        do { value = try TLVValue(decoding: bytes) } catch { throw .damagedRecords("\(error)") }
        guard value[Tag.version]?.asUnsigned == Self.version else { throw .damagedRecords("unknown version") }
        guard let stored = value[Tag.fabrics]?.elements else { throw .damagedRecords("the list of fabrics is missing") }
        var fabrics: [Fabric] = []
        for (place, fabric) in stored.prefix(Self.fabricLimit + 1).enumerated() {
            do { fabrics.append(try Fabric(stored: fabric)) } catch {
                throw .damagedRecords("fabric \(place + 1): \(error)")
            }
        }
        let settings = Settings(
            label: value[Tag.label]?.asText, plugName: value[Tag.plugName]?.asText,
            location: try Self.required(value[Tag.location]?.asText, "the location"),
            regulatoryConfig: try Self.required(value[Tag.regulatoryConfig]?.unsigned(UInt8.self), "the regulation"),
            startUpOnOff: value[Tag.startUpOnOff]?.unsigned(UInt8.self),
            startUpLevel: value[Tag.startUpLevel]?.unsigned(UInt8.self))
        let counters = Counters(
            eventLimit: try Self.required(value[Tag.eventLimit]?.asUnsigned, "the limit of event numbers"),
            lastPress: try Self.required(value[Tag.lastPress]?.asUnsigned, "the number of the last press"),
            reboots: try Self.required(value[Tag.reboots]?.unsigned(UInt16.self), "the count of restarts"))
        let last = try Self.required(value[Tag.lastFabricIndex]?.unsigned(UInt8.self), "the last fabric index")
        guard
            let records = MatterRecords(
                fabrics: fabrics, lastFabricIndex: last, settings: settings, counters: counters)
        else { throw .damagedRecords("the fabrics or the settings are outside their limits") }
        self = records
    }

    private static func required<Value>(_ value: Value?, _ name: String) throws(MatterError) -> Value {
        guard let value else { throw .damagedRecords("\(name) is missing") }
        return value
    }
}

extension Fabric {
    /// The tags of a stored fabric.
    private enum Tag {
        static let index: UInt8 = 0
        static let root: UInt8 = 1
        static let operational: UInt8 = 2
        static let intermediate: UInt8 = 3
        static let key: UInt8 = 4
        static let vendor: UInt8 = 5
        static let label: UInt8 = 6
        static let accessControl: UInt8 = 7
        static let accessExtension: UInt8 = 8
        static let keySets: UInt8 = 9
        static let groupKeyMap: UInt8 = 10
        static let groups: UInt8 = 11
        static let scenes: UInt8 = 12
    }

    var stored: TLVValue {
        .fields(
            (Tag.index, .number(index)), (Tag.root, .bytes(credentials.root)),
            (Tag.operational, .bytes(credentials.operational)),
            (Tag.intermediate, credentials.intermediate.map { .bytes($0) }), (Tag.key, .bytes(credentials.key)),
            (Tag.vendor, .number(vendor)), (Tag.label, .text(label)),
            (Tag.accessControl, .array(accessControl.map { .members($0.members) })),
            (Tag.accessExtension, accessExtension.map { .bytes($0) }),
            (Tag.keySets, .array(keySets.map(\.stored))),
            (Tag.groupKeyMap, .array(groupKeyMap.map { .members($0.members) })),
            (Tag.groups, .array(groups.map(\.stored))), (Tag.scenes, .array(scenes.scenes.map(\.stored))))
    }

    /// Decodes a stored fabric and verifies its certificates.
    init(stored value: TLVValue) throws(MatterError) {
        guard let index = value[Tag.index]?.unsigned(UInt8.self), let root = value[Tag.root]?.asBytes,
            let operational = value[Tag.operational]?.asBytes, let key = value[Tag.key]?.asBytes,
            let vendor = value[Tag.vendor]?.unsigned(UInt16.self), let label = value[Tag.label]?.asText,
            label.utf8.count <= Self.labelLimit
        else { throw .invalid("identity") }
        (self.index, self.vendor, self.label) = (index, vendor, label)
        credentials = try FabricCredentials(
            root: root, operational: operational, intermediate: value[Tag.intermediate]?.asBytes, key: key)
        accessControl = try Self.list(value, Tag.accessControl, "access control") { try? AccessControlEntry($0) }
        accessExtension = value[Tag.accessExtension]?.asBytes
        keySets = try Self.list(value, Tag.keySets, "group keys", GroupKeySet.init(stored:))
        groupKeyMap = try Self.list(value, Tag.groupKeyMap, "group key map") { try? GroupKeyMapping($0) }
        groups = try Self.list(value, Tag.groups, "groups", GroupMembership.init(stored:))
        guard let scenes = SceneTable(try Self.list(value, Tag.scenes, "scenes", Scene.init(stored:))) else {
            throw .invalid("scenes")
        }
        self.scenes = scenes
    }

    private static func list<Item>(
        _ value: TLVValue, _ tag: UInt8, _ name: String, _ decode: (TLVValue) -> Item?
    ) throws(MatterError) -> [Item] {
        guard let elements = value[tag]?.elements else { throw .invalid("\(name)") }
        var items: [Item] = []
        for element in elements {
            guard let item = decode(element) else { throw .invalid("\(name)") }
            items.append(item)
        }
        return items
    }
}

extension GroupKeySet {
    fileprivate var stored: TLVValue {
        .fields(
            (0, .number(id)),
            (1, .array(keys.map { .fields((0, .bytes($0.key)), (1, .number($0.start))) })))
    }

    fileprivate init?(stored value: TLVValue) {
        guard let id = value[0]?.unsigned(UInt16.self), let elements = value[1]?.elements else { return nil }
        var keys: [EpochKey] = []
        for element in elements {
            guard let key = element[0]?.asBytes, let start = element[1]?.asUnsigned else { return nil }
            keys.append(EpochKey(key: key, start: start))
        }
        self.init(id: id, keys: keys)
    }
}

extension GroupMembership {
    fileprivate var stored: TLVValue { .fields((0, .number(group)), (1, .text(name)), (2, .numbers(endpoints))) }

    fileprivate init?(stored value: TLVValue) {
        guard let group = value[0]?.unsigned(UInt16.self), let name = value[1]?.asText,
            let endpoints = value[2]?.elements?.compactMap({ $0.unsigned(UInt16.self) })
        else { return nil }
        (self.group, self.name, self.endpoints) = (group, name, endpoints)
    }
}

extension Scene {
    fileprivate var stored: TLVValue {
        .fields(
            (0, .number(group)), (1, .number(id)), (2, .number(transition)), (3, .text(name)),
            (4, isOn.map { .boolean($0) }), (5, level.map { .number($0) }))
    }

    fileprivate init?(stored value: TLVValue) {
        guard let group = value[0]?.unsigned(UInt16.self), let id = value[1]?.unsigned(UInt8.self),
            let transition = value[2]?.unsigned(UInt32.self), let name = value[3]?.asText
        else { return nil }
        (self.group, self.id, self.transition, self.name) = (group, id, transition, name)
        (isOn, level) = (value[4]?.asBoolean, value[5]?.unsigned(UInt8.self))
    }
}
