/// Identify (Matter application clusters 1.2).
enum Identify {
    enum Attribute: UInt32, CaseIterable { case identifyTime = 0x0000, identifyType = 0x0001 }
    enum Command: UInt32, CaseIterable { case identify = 0x00, triggerEffect = 0x40 }

    static let row = ClusterRow(
        .identify, "Identify", revision: 4,
        attributes: [
            AttributeRow(Attribute.identifyTime, "IdentifyTime", .uint16, write: .operate, [.quieter]),
            AttributeRow(Attribute.identifyType, "IdentifyType", .unsigned(max: 5), [.fixed]),
        ],
        commands: [
            CommandRow(Command.identify, "Identify", .mandatory, .manage),
            CommandRow(Command.triggerEffect, "TriggerEffect", .mandatory, .manage),
        ])
}

/// Groups (Matter application clusters 1.3).
enum Groups {
    enum Feature { static let groupNames: UInt32 = 1 << 0 }
    enum Attribute: UInt32, CaseIterable { case nameSupport = 0x0000 }
    enum Command: UInt32, CaseIterable {
        case addGroup = 0x00
        case viewGroup = 0x01
        case getGroupMembership = 0x02
        case removeGroup = 0x03
        case removeAllGroups = 0x04
        case addGroupIfIdentifying = 0x05
    }

    static let row = ClusterRow(
        .groups, "Groups", revision: 4, features: [FeatureRow(Feature.groupNames, "GN")],
        attributes: [AttributeRow(Attribute.nameSupport, "NameSupport", .uint8, [.fixed])],
        commands: [
            CommandRow(Command.addGroup, "AddGroup", response: 0x00, .mandatory, .manage, isFabricScoped: true),
            CommandRow(Command.viewGroup, "ViewGroup", response: 0x01, isFabricScoped: true),
            CommandRow(Command.getGroupMembership, "GetGroupMembership", response: 0x02, isFabricScoped: true),
            CommandRow(Command.removeGroup, "RemoveGroup", response: 0x03, .mandatory, .manage, isFabricScoped: true),
            CommandRow(Command.removeAllGroups, "RemoveAllGroups", .mandatory, .manage, isFabricScoped: true),
            CommandRow(
                Command.addGroupIfIdentifying, "AddGroupIfIdentifying", .mandatory, .manage, isFabricScoped: true),
        ])
}

/// On/Off (Matter application clusters 1.5).
enum OnOff {
    enum Feature { static let lighting: UInt32 = 1 << 0 }
    enum Attribute: UInt32, CaseIterable {
        case onOff = 0x0000
        case globalSceneControl = 0x4000
        case onTime = 0x4001
        case offWaitTime = 0x4002
        case startUpOnOff = 0x4003
    }
    enum Command: UInt32, CaseIterable {
        case off = 0x00
        case on = 0x01
        case toggle = 0x02
        case offWithEffect = 0x40
        case onWithRecallGlobalScene = 0x41
        case onWithTimedOff = 0x42
    }

    private static let lighting = Conformance.with(Feature.lighting)

    static let row = ClusterRow(
        .onOff, "On/Off", revision: 6, features: [FeatureRow(Feature.lighting, "LT")],
        attributes: [
            AttributeRow(Attribute.onOff, "OnOff", .boolean, [.nonvolatile, .scene]),
            AttributeRow(Attribute.globalSceneControl, "GlobalSceneControl", .boolean, lighting),
            AttributeRow(Attribute.onTime, "OnTime", .uint16, lighting, write: .operate),
            AttributeRow(Attribute.offWaitTime, "OffWaitTime", .uint16, lighting, write: .operate),
            AttributeRow(
                Attribute.startUpOnOff, "StartUpOnOff", .unsigned(max: 2), lighting, write: .manage,
                [.nullable, .nonvolatile]),
        ],
        commands: [
            CommandRow(Command.off, "Off"), CommandRow(Command.on, "On"), CommandRow(Command.toggle, "Toggle"),
            CommandRow(Command.offWithEffect, "OffWithEffect", lighting),
            CommandRow(Command.onWithRecallGlobalScene, "OnWithRecallGlobalScene", lighting),
            CommandRow(Command.onWithTimedOff, "OnWithTimedOff", lighting),
        ])
}

/// Level Control (Matter application clusters 1.6).
enum LevelControl {
    enum Feature {
        static let onOff: UInt32 = 1 << 0
        static let lighting: UInt32 = 1 << 1
    }
    enum Attribute: UInt32, CaseIterable {
        case currentLevel = 0x0000
        case remainingTime = 0x0001
        case minLevel = 0x0002
        case maxLevel = 0x0003
        case options = 0x000F
        case onLevel = 0x0011
        case startUpCurrentLevel = 0x4000
    }
    enum Command: UInt32, CaseIterable {
        case moveToLevel = 0x00
        case move = 0x01
        case step = 0x02
        case stop = 0x03
        case moveToLevelWithOnOff = 0x04
        case moveWithOnOff = 0x05
        case stepWithOnOff = 0x06
        case stopWithOnOff = 0x07
    }

    private static let lighting = Conformance.with(Feature.lighting)

    static let row = ClusterRow(
        .levelControl, "Level Control", revision: 5,
        features: [FeatureRow(Feature.onOff, "OO"), FeatureRow(Feature.lighting, "LT")],
        attributes: [
            AttributeRow(
                Attribute.currentLevel, "CurrentLevel", .unsigned(max: 254), [.nullable, .nonvolatile, .scene]),
            AttributeRow(Attribute.remainingTime, "RemainingTime", .uint16, lighting),
            AttributeRow(Attribute.minLevel, "MinLevel", .unsigned(max: 254), .optional(with: Feature.lighting)),
            AttributeRow(Attribute.maxLevel, "MaxLevel", .unsigned(max: 254), .optional),
            AttributeRow(Attribute.options, "Options", .unsigned(max: 3), write: .operate),
            AttributeRow(Attribute.onLevel, "OnLevel", .unsigned(max: 254), write: .operate, [.nullable]),
            AttributeRow(
                Attribute.startUpCurrentLevel, "StartUpCurrentLevel", .unsigned(max: 254), lighting, write: .manage,
                [.nullable, .nonvolatile]),
        ],
        commands: [
            CommandRow(Command.moveToLevel, "MoveToLevel"), CommandRow(Command.move, "Move"),
            CommandRow(Command.step, "Step"), CommandRow(Command.stop, "Stop"),
            CommandRow(Command.moveToLevelWithOnOff, "MoveToLevelWithOnOff"),
            CommandRow(Command.moveWithOnOff, "MoveWithOnOff"), CommandRow(Command.stepWithOnOff, "StepWithOnOff"),
            CommandRow(Command.stopWithOnOff, "StopWithOnOff"),
        ])
}

/// Scenes Management (Matter application clusters 1.4).
enum ScenesManagement {
    enum Feature { static let sceneNames: UInt32 = 1 << 0 }
    enum Attribute: UInt32, CaseIterable { case sceneTableSize = 0x0001, fabricSceneInfo = 0x0002 }
    enum Command: UInt32, CaseIterable {
        case addScene = 0x00
        case viewScene = 0x01
        case removeScene = 0x02
        case removeAllScenes = 0x03
        case storeScene = 0x04
        case recallScene = 0x05
        case getSceneMembership = 0x06
        case copyScene = 0x40
    }

    static let row = ClusterRow(
        .scenesManagement, "Scenes Management", revision: 1, features: [FeatureRow(Feature.sceneNames, "SN")],
        attributes: [
            AttributeRow(Attribute.sceneTableSize, "SceneTableSize", .uint16, [.fixed]),
            AttributeRow(Attribute.fabricSceneInfo, "FabricSceneInfo", .list, [.fabricScoped]),
        ],
        commands: [
            CommandRow(Command.addScene, "AddScene", response: 0x00, .mandatory, .manage, isFabricScoped: true),
            CommandRow(Command.viewScene, "ViewScene", response: 0x01, isFabricScoped: true),
            CommandRow(Command.removeScene, "RemoveScene", response: 0x02, .mandatory, .manage, isFabricScoped: true),
            CommandRow(
                Command.removeAllScenes, "RemoveAllScenes", response: 0x03, .mandatory, .manage, isFabricScoped: true),
            CommandRow(Command.storeScene, "StoreScene", response: 0x04, .mandatory, .manage, isFabricScoped: true),
            CommandRow(Command.recallScene, "RecallScene", isFabricScoped: true),
            CommandRow(Command.getSceneMembership, "GetSceneMembership", response: 0x06, isFabricScoped: true),
            CommandRow(Command.copyScene, "CopyScene", response: 0x40, .optional, .manage, isFabricScoped: true),
        ])
}

/// Switch (Matter application clusters 1.13).
enum SwitchCluster {
    enum Feature {
        static let momentary: UInt32 = 1 << 1
        static let release: UInt32 = 1 << 2
        static let longPress: UInt32 = 1 << 3
        static let multiPress: UInt32 = 1 << 4
    }
    enum Attribute: UInt32, CaseIterable {
        case numberOfPositions = 0x0000
        case currentPosition = 0x0001
        case multiPressMax = 0x0002
    }
    enum Event: UInt32, CaseIterable {
        case initialPress = 0x01
        case longPress = 0x02
        case shortRelease = 0x03
        case longRelease = 0x04
        case multiPressOngoing = 0x05
        case multiPressComplete = 0x06
    }

    static let row = ClusterRow(
        .switchCluster, "Switch", revision: 1,
        features: [
            FeatureRow(Feature.momentary, "MS"), FeatureRow(Feature.release, "MSR"),
            FeatureRow(Feature.longPress, "MSL"), FeatureRow(Feature.multiPress, "MSM"),
        ],
        attributes: [
            AttributeRow(Attribute.numberOfPositions, "NumberOfPositions", .uint8, [.fixed]),
            AttributeRow(Attribute.currentPosition, "CurrentPosition", .uint8, [.nonvolatile]),
            AttributeRow(
                Attribute.multiPressMax, "MultiPressMax", .uint8, .with(Feature.multiPress), [.fixed]),
        ],
        events: [
            EventRow(Event.initialPress, "InitialPress", .with(Feature.momentary)),
            EventRow(Event.longPress, "LongPress", .with(Feature.longPress)),
            EventRow(Event.shortRelease, "ShortRelease", .with(Feature.release)),
            EventRow(Event.longRelease, "LongRelease", .with(Feature.longPress)),
            EventRow(Event.multiPressOngoing, "MultiPressOngoing", .with(Feature.multiPress)),
            EventRow(Event.multiPressComplete, "MultiPressComplete", .with(Feature.multiPress)),
        ])
}
