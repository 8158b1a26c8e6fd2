import MatterWire
import ProtocolCore

/// The scene that each fabric recalled or stored last, and whether the plug still has its values
/// (Matter application clusters 1.4.6.3).
struct SceneStatus: Sendable {
    /// The time after the end of a transition in which the plug's values may differ from the scene.
    private static let settlingTime = Duration.seconds(2)

    struct Current: Hashable, Sendable {
        let scene: Scene
        let settled: Instant
        var isValid: Bool
    }

    private var current: [UInt8: Current] = [:]

    subscript(fabric: UInt8) -> Current? { current[fabric] }

    /// Records that a fabric recalled or stored a scene. A recall makes the scenes of other fabrics invalid.
    mutating func apply(_ scene: Scene, fabric: UInt8, transition: Duration, isRecall: Bool, now: Instant) {
        if isRecall { for other in current.keys where other != fabric { current[other]?.isValid = false } }
        current[fabric] = Current(scene: scene, settled: now + transition + Self.settlingTime, isValid: true)
    }

    /// Handles new values of the plug. Returns true if a scene is not valid any more.
    mutating func valuesChanged(to values: PlugValues, now: Instant) -> Bool {
        var changed = false
        for (fabric, entry) in current where entry.isValid && now >= entry.settled {
            let scene = entry.scene
            let isSame =
                (scene.isOn.map { $0 == values.isOn } ?? true)
                && (!values.isOn || scene.level == nil || scene.level == values.level)
            guard !isSame else { continue }
            current[fabric]?.isValid = false
            changed = true
        }
        return changed
    }

    /// Forgets the scene of a fabric if the closure returns true for it.
    mutating func forget(fabric: UInt8, where isForgotten: (_ group: UInt16, _ scene: UInt8) -> Bool = { _, _ in true })
    {
        guard let entry = current[fabric], isForgotten(entry.scene.group, entry.scene.id) else { return }
        current[fabric] = nil
    }
}

extension NodeState {
    /// The group and the scene of the global scene (Matter application clusters 1.5.6.3).
    static let globalScene = (group: UInt16(0), id: UInt8(0))

    /// Creates a scene with the plug's present values.
    func presentScene(group: UInt16, id: UInt8, transition: UInt32, name: String, now: Instant) -> Scene {
        Scene(
            group: group, id: id, transition: transition, name: name, isOn: values?.isOn ?? false,
            level: configuration.features.dims ? level.current(now: now, values) : nil)
    }

    /// Stores the plug's present values as the global scene of the accessing fabric, if there is one.
    mutating func storeGlobalScene(_ call: Call) {
        guard call.fabric != nil else { return }
        let (group, id) = Self.globalScene
        let scene = presentScene(group: group, id: id, transition: 0, name: "", now: call.now)
        // If the table is full, the global scene is not stored, and a later recall only switches the load on.
        _ = try? update(call) { fabric throws(InteractionStatus) in fabric.scenes.put(scene) }
        changed(ScenesManagement.Attribute.fabricSceneInfo, of: .scenesManagement, on: DataModel.load)
    }

    /// Applies a scene to the plug.
    ///
    /// - Parameter transition: the time in milliseconds, or nil for the scene's.
    mutating func recall(_ scene: Scene, transition: UInt32?, for call: Call) throws(InteractionStatus) -> CommandReply
    {
        let length = min(.milliseconds(Int64(transition ?? scene.transition)), LevelLimits.longestTransition)
        if let fabric = call.fabric {
            sceneStatus.apply(scene, fabric: fabric, transition: length, isRecall: true, now: call.now)
            changed(ScenesManagement.Attribute.fabricSceneInfo, of: .scenesManagement, on: DataModel.load)
        }
        // A load that is off keeps its level, because the plug cannot set the level without switching the load on.
        let isOn = scene.isOn ?? values?.isOn ?? false
        guard isOn, let target = scene.level, configuration.features.dims else {
            guard let isOn = scene.isOn else { return .status(.success) }
            return try ask(.on(isOn), for: call)
        }
        let switchesOn = scene.isOn == true && target > LevelLimits.lowest
        if scene.isOn == true, !switchesOn { ask(.on(true), from: call.origin) }
        return try move(to: target, over: length, withOnOff: switchesOn, for: call)
    }

    /// Moves to a level. Other clusters show the transition until it ends.
    mutating func move(
        to target: UInt8, over length: Duration, withOnOff: Bool, for call: Call
    ) throws(InteractionStatus) -> CommandReply {
        let reply = try ask(.level(target, transition: length, withOnOff: withOnOff), for: call)
        let start = values?.isOn == true ? level.current(now: call.now, values) : LevelLimits.lowest
        level.begin(from: start ?? target, to: target, length, now: call.now)
        changed(LevelControl.Attribute.currentLevel, of: .levelControl, on: DataModel.load)
        changed(LevelControl.Attribute.remainingTime, of: .levelControl, on: DataModel.load)
        return reply
    }
}
