import MatterWire

/// A scene of a fabric (Matter application clusters 1.4.7).
struct Scene: Hashable, Sendable {
    /// The length limit of a name in bytes.
    static let nameLimit = 16
    /// The limit of a transition time in milliseconds.
    static let longestTransition: UInt32 = 60_000_000

    let group: UInt16
    let id: UInt8
    /// The transition time in milliseconds.
    var transition: UInt32
    var name: String
    /// The value of the attribute OnOff, or nil if the scene does not change it.
    var isOn: Bool?
    /// The value of the attribute CurrentLevel, or nil if the scene does not change it.
    var level: UInt8?

    /// The extension field sets (Matter application clusters 1.4.6.4).
    var extensionFields: TLVValue {
        var sets: [TLVValue] = []
        if let isOn { sets.append(Self.set(.onOff, OnOff.Attribute.onOff.rawValue, isOn ? 1 : 0)) }
        if let level { sets.append(Self.set(.levelControl, LevelControl.Attribute.currentLevel.rawValue, level)) }
        return .array(sets)
    }

    private static func set(_ cluster: ClusterID, _ attribute: UInt32, _ value: UInt8) -> TLVValue {
        .fields(
            (0, .number(cluster.rawValue)),
            (1, .array([.fields((0, .number(attribute)), (1, .number(value)))])))
    }

    /// Sets the values of a scene from extension field sets. Clusters that the plug does not have are ignored.
    ///
    /// - Throws: `invalidCommand` if a set is malformed or contains an attribute that is not part of scenes.
    mutating func apply(_ sets: [TLVValue], dims: Bool) throws(InteractionStatus) {
        for set in sets {
            let cluster = try set.field(0, UInt32.self)
            guard let pairs = set[1]?.elements else { throw InteractionStatus(.invalidCommand) }
            for pair in pairs {
                let attribute = try pair.field(0, UInt32.self)
                // Exactly one value, of the attribute's type.
                guard case .structure(let members) = pair, members.count == 2 else {
                    throw InteractionStatus(.invalidCommand)
                }
                switch ClusterID(rawValue: cluster) {
                case .onOff:
                    guard attribute == OnOff.Attribute.onOff.rawValue else { throw InteractionStatus(.invalidCommand) }
                    isOn = try pair.field(1, UInt8.self) != 0
                case .levelControl where dims:
                    guard attribute == LevelControl.Attribute.currentLevel.rawValue else {
                        throw InteractionStatus(.invalidCommand)
                    }
                    // 255 is the null of this type.
                    let value = try pair.field(1, UInt8.self)
                    level = value == 255 ? nil : min(max(value, LevelLimits.lowest), LevelLimits.highest)
                case _: continue
                }
            }
        }
    }
}

/// The scenes of a fabric.
struct SceneTable: Hashable, Sendable {
    /// The value of the attribute SceneTableSize.
    static let size: UInt16 = 16
    /// The limit of scenes per fabric, so that one fabric cannot use all entries (Matter application clusters 1.4.8.2).
    static let limit = Int(size - 1) / 2

    private(set) var scenes: [Scene] = []

    init() {}

    /// Creates a table from stored scenes. Returns nil if there are too many or if two are equal.
    init?(_ scenes: [Scene]) {
        guard scenes.count <= Self.limit else { return nil }
        for scene in scenes { guard put(scene), self.scenes.last == scene else { return nil } }
    }

    /// The number of scenes that the fabric can still add.
    var capacity: UInt8 { UInt8(Self.limit - scenes.count) }

    subscript(group: UInt16, id: UInt8) -> Scene? { scenes.first { $0.group == group && $0.id == id } }

    /// Adds a scene or replaces the one with the same id. Returns false if the table is full.
    mutating func put(_ scene: Scene) -> Bool {
        if let index = scenes.firstIndex(where: { $0.group == scene.group && $0.id == scene.id }) {
            scenes[index] = scene
        } else if scenes.count < Self.limit {
            scenes.append(scene)
        } else {
            return false
        }
        return true
    }

    /// Removes a scene. Returns false if it does not exist.
    mutating func remove(group: UInt16, id: UInt8) -> Bool {
        guard let index = scenes.firstIndex(where: { $0.group == group && $0.id == id }) else { return false }
        scenes.remove(at: index)
        return true
    }

    /// Removes the scenes of the groups for which the closure returns true.
    mutating func removeAll(where isRemoved: (_ group: UInt16) -> Bool) { scenes.removeAll { isRemoved($0.group) } }
}
