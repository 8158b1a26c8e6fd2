import MatterWire
import ProtocolCore

/// Scenes Management of the load (Matter application clusters 1.4). The scene table is in the fabric.
struct ScenesServer: ClusterServer {
    /// The ids that a scene can have.
    private static let ids: ClosedRange<UInt8> = 0...254
    /// SceneInfoStruct without a current scene.
    private static let noScene: UInt64 = 0xFF

    private let endpoint: UInt16

    init(endpoint: UInt16) { self.endpoint = endpoint }

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        switch try known(attribute, ScenesManagement.Attribute.self, or: .unsupportedAttribute) {
        case .sceneTableSize: .number(SceneTable.size)
        case .fabricSceneInfo:
            call.scoped(
                state.records.fabrics.map { fabric in
                    let current = state.sceneStatus[fabric.index]
                    return (
                        fabric: fabric.index,
                        sensitive: [
                            (1, .unsigned(current.map { UInt64($0.scene.id) } ?? Self.noScene)),
                            (2, .number(current?.scene.group ?? 0)), (3, .boolean(current?.isValid ?? false)),
                        ],
                        open: [
                            (0, .number(UInt8(fabric.scenes.scenes.count))), (4, .number(fabric.scenes.capacity)),
                        ]
                    )
                })
        }
    }

    mutating func invoke(
        _ command: UInt32, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let fabric = try state.fabric(of: call)
        let command = try known(command, ScenesManagement.Command.self, or: .unsupportedCommand)
        if command == .copyScene { return try copy(fields, fabric, call, &state) }
        let group = try fields.field(0, UInt16.self)
        let isMember = group == 0 || fabric.group(group, on: endpoint) != nil
        switch command {
        case .removeAllScenes:
            if isMember { try removeAll(group, call, &state) }
            return .response(
                0x03, .fields((0, Self.status(isMember ? .success : .invalidCommand)), (1, .number(group))))
        case .getSceneMembership:
            let ids = fabric.scenes.scenes.filter { $0.group == group }.map(\.id)
            return .response(
                0x06,
                .fields(
                    (0, Self.status(isMember ? .success : .invalidCommand)), (1, .number(fabric.scenes.capacity)),
                    (2, .number(group)), (3, isMember ? .numbers(ids) : nil)))
        case .addScene, .viewScene, .removeScene, .storeScene, .recallScene, .copyScene: break
        }
        let id = try fields.field(1, UInt8.self)
        guard Self.ids.contains(id) else {
            return Self.reply(command, .constraintError, group, id)
        }
        guard isMember else { return Self.reply(command, .invalidCommand, group, id) }
        let scene = fabric.scenes[group, id]
        switch command {
        case .addScene: return Self.reply(command, try add(group, id, fields, call, &state), group, id)
        case .viewScene:
            guard let scene else { return Self.reply(command, .notFound, group, id) }
            return .response(
                0x01,
                .fields(
                    (0, Self.status(.success)), (1, .number(group)), (2, .number(id)),
                    (3, .number(scene.transition)), (4, .text(scene.name)), (5, scene.extensionFields)))
        case .removeScene:
            guard scene != nil else { return Self.reply(command, .notFound, group, id) }
            _ = try state.update(call) { fabric throws(InteractionStatus) in fabric.scenes.remove(group: group, id: id)
            }
            forget(call, &state) { $0 == group && $1 == id }
            return Self.reply(command, .success, group, id)
        case .storeScene:
            return Self.reply(command, try store(group, id, scene, call, &state), group, id)
        case .recallScene:
            guard let scene else { throw InteractionStatus(.notFound) }
            let transition = try fields.nullableField(2, UInt32.self, in: 0...Scene.longestTransition)
            return try state.recall(scene, transition: transition, for: call)
        case .removeAllScenes, .getSceneMembership, .copyScene: throw InteractionStatus(.unsupportedCommand)
        }
    }

    mutating func valuesChanged(from old: PlugValues?, to new: PlugValues, now: Instant, _ state: inout NodeState) {
        guard state.sceneStatus.valuesChanged(to: new, now: now) else { return }
        state.changed(ScenesManagement.Attribute.fabricSceneInfo, of: .scenesManagement, on: endpoint)
    }

    private static func status(_ code: InteractionStatusCode) -> TLVValue { .number(code.rawValue) }

    /// A reply with status, group and scene. The response has the id of its command; RecallScene has only a status.
    private static func reply(
        _ command: ScenesManagement.Command, _ code: InteractionStatusCode, _ group: UInt16, _ id: UInt8
    ) -> CommandReply {
        guard command != .recallScene else { return .status(InteractionStatus(code)) }
        return .response(command.rawValue, .fields((0, status(code)), (1, .number(group)), (2, .number(id))))
    }

    private func add(
        _ group: UInt16, _ id: UInt8, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> InteractionStatusCode {
        let transition = try fields.field(2, UInt32.self)
        guard let name = fields[3]?.asText, let sets = fields[4]?.elements else {
            throw InteractionStatus(.invalidCommand)
        }
        guard transition <= Scene.longestTransition, name.utf8.count <= Scene.nameLimit else { return .constraintError }
        var scene = Scene(group: group, id: id, transition: transition, name: name)
        do { try scene.apply(sets, dims: state.configuration.features.dims) } catch { return error.code }
        return try put(scene, call, &state)
    }

    private func store(
        _ group: UInt16, _ id: UInt8, _ old: Scene?, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> InteractionStatusCode {
        let scene = state.presentScene(
            group: group, id: id, transition: old?.transition ?? 0, name: old?.name ?? "", now: call.now)
        let code = try put(scene, call, &state)
        if code == .success, let fabric = call.fabric {
            state.sceneStatus.apply(scene, fabric: fabric, transition: .zero, isRecall: false, now: call.now)
        }
        return code
    }

    private func put(
        _ scene: Scene, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> InteractionStatusCode {
        guard try state.update(call, { fabric throws(InteractionStatus) in fabric.scenes.put(scene) }) else {
            return .resourceExhausted
        }
        // A changed scene is no longer the one that was recalled.
        forget(call, &state) { $0 == scene.group && $1 == scene.id }
        return .success
    }

    private func removeAll(_ group: UInt16, _ call: Call, _ state: inout NodeState) throws(InteractionStatus) {
        try state.update(call) { fabric throws(InteractionStatus) in fabric.scenes.removeAll { $0 == group } }
        forget(call, &state) { removed, _ in removed == group }
    }

    private func forget(_ call: Call, _ state: inout NodeState, where isForgotten: (UInt16, UInt8) -> Bool) {
        if let fabric = call.fabric { state.sceneStatus.forget(fabric: fabric, where: isForgotten) }
        state.changed(ScenesManagement.Attribute.fabricSceneInfo, of: .scenesManagement, on: endpoint)
    }

    /// CopyScene (Matter application clusters 1.4.9.14): one scene, or all scenes of a group.
    private func copy(
        _ fields: TLVValue, _ fabric: Fabric, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let copiesAll = try fields.field(0, UInt8.self, in: 0...1) == 1
        let (from, to) = (try fields.field(1, UInt16.self), try fields.field(3, UInt16.self))
        let (source, target) = (try fields.field(2, UInt8.self), try fields.field(4, UInt8.self))
        func reply(_ code: InteractionStatusCode) -> CommandReply {
            .response(0x40, .fields((0, Self.status(code)), (1, .number(from)), (2, .number(source))))
        }
        guard Self.ids.contains(source), Self.ids.contains(target) else { return reply(.constraintError) }
        guard [from, to].allSatisfy({ $0 == 0 || fabric.group($0, on: endpoint) != nil }) else {
            return reply(.invalidCommand)
        }
        let scenes = fabric.scenes.scenes.filter { $0.group == from && (copiesAll || $0.id == source) }
        guard copiesAll || !scenes.isEmpty else { return reply(.notFound) }
        for scene in scenes {
            let copy = Scene(
                group: to, id: copiesAll ? scene.id : target, transition: scene.transition, name: scene.name,
                isOn: scene.isOn, level: scene.level)
            let code = try put(copy, call, &state)
            guard code == .success else { return reply(code) }
        }
        return reply(.success)
    }
}
