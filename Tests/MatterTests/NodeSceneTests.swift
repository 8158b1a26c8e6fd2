import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@testable import Matter

@Suite struct NodeSceneTests {
    private var fixture: NodeFixture
    private let session: Accessor

    init() throws {
        fixture = try NodeFixture()
        session = try fixture.commission()
        fixture.node.look(PlugValues(isOn: true, level: 80), now: fixture.now)
    }

    private mutating func group(_ command: Groups.Command, _ fields: TLVValue) throws -> TLVValue? {
        if case .response(_, let value) = fixture.invoke(.groups, command, on: 1, fields, as: session) {
            value
        } else {
            nil
        }
    }

    private mutating func scene(_ command: ScenesManagement.Command, _ fields: TLVValue) -> CommandReply {
        fixture.perform(.scenesManagement, command, fields, as: session).reply
    }

    private mutating func addGroup(_ id: UInt16, name: String = "") throws -> UInt64? {
        try group(.addGroup, .fields((0, .number(id)), (1, .text(name))))?[0]?.asUnsigned
    }

    private mutating func addKey(groups: [UInt16]) {
        let set = TLVValue.fields(
            (0, .unsigned(7)), (1, .unsigned(0)), (2, .bytes(Array(repeating: 1, count: 16))), (3, .unsigned(1)))
        #expect(
            fixture.invoke(.groupKeyManagement, GroupKeyManagement.Command.keySetWrite, .fields((0, set)), as: session)
                == .status(.success))
        let map = TLVValue.array(groups.map { .fields((1, .number($0)), (2, .unsigned(7))) })
        #expect(
            fixture.write(.groupKeyManagement, GroupKeyManagement.Attribute.groupKeyMap, map, as: session) == .success)
    }

    private func info() throws -> TLVValue? {
        try fixture.read(.scenesManagement, ScenesManagement.Attribute.fabricSceneInfo, on: 1, as: session).elements?
            .first
    }

    private static func ids(_ group: UInt64, _ scene: UInt64) -> TLVValue {
        .fields((0, .unsigned(group)), (1, .unsigned(scene)))
    }

    @Test("An endpoint joins groups that have a key, and leaves them")
    mutating func groups() throws {
        #expect(try addGroup(3) == 0x7E)
        addKey(groups: [3, 4])
        #expect(try addGroup(0) == 0x87)
        #expect(try addGroup(3, name: "12345678901234567") == 0x87)
        #expect(try addGroup(3, name: "Hall") == 0)
        #expect(try addGroup(4) == 0)
        #expect(try group(.viewGroup, .fields((0, .unsigned(3))))?[2] == .text("Hall"))
        #expect(try group(.viewGroup, .fields((0, .unsigned(9))))?[0]?.asUnsigned == 0x8B)
        let all = try group(.getGroupMembership, .fields((0, .array([]))))
        #expect(all?[1] == .numbers([UInt16(3), 4]))
        #expect(all?[0]?.asUnsigned == UInt64(GroupMembership.limit - 2))
        #expect(try group(.getGroupMembership, .fields((0, .numbers([UInt16(4), 9]))))?[1] == .numbers([UInt16(4)]))
        let table = try fixture.read(.groupKeyManagement, GroupKeyManagement.Attribute.groupTable, as: session)
        #expect(table.elements?.map { $0[1]?.asUnsigned } == [3, 4])
        #expect(try group(.removeGroup, .fields((0, .unsigned(3))))?[0]?.asUnsigned == 0)
        #expect(try group(.removeGroup, .fields((0, .unsigned(3))))?[0]?.asUnsigned == 0x8B)
        #expect(fixture.invoke(.groups, Groups.Command.removeAllGroups, on: 1, as: session) == .status(.success))
        #expect(fixture.stored?.fabric(1)?.groups == [])
    }

    @Test("AddGroupIfIdentifying has an effect only while the endpoint identifies itself")
    mutating func groupIfIdentifying() {
        addKey(groups: [3])
        let fields = TLVValue.fields((0, .unsigned(3)), (1, .text("")))
        let command = Groups.Command.addGroupIfIdentifying
        #expect(fixture.invoke(.groups, command, on: 1, fields, as: session) == .status(.success))
        #expect(fixture.stored?.fabric(1)?.groups == [])
        #expect(fixture.write(.identify, Identify.Attribute.identifyTime, on: 1, .unsigned(5), as: session) == .success)
        #expect(fixture.invoke(.groups, command, on: 1, fields, as: session) == .status(.success))
        #expect(fixture.stored?.fabric(1)?.groups.map(\.group) == [3])
    }

    @Test("A stored scene is recalled with its transition, and stays valid until the plug's values differ")
    mutating func storeAndRecall() throws {
        #expect(fixture.code(scene(.storeScene, Self.ids(0, 5))) == 0)
        #expect(try info()?[3] == .boolean(true))
        fixture.wait(.seconds(5))
        fixture.node.look(PlugValues(isOn: false, level: 80), now: fixture.now)
        #expect(try info()?[3] == .boolean(false))
        let recall = fixture.perform(
            .scenesManagement, ScenesManagement.Command.recallScene,
            .fields((0, .unsigned(0)), (1, .unsigned(5)), (2, .unsigned(2500))), as: session)
        #expect(recall.commands == [.level(80, transition: .milliseconds(2500), withOnOff: true)])
        #expect(recall.reply == .status(.success))
        #expect(try info()?[1] == .unsigned(5))
        #expect(try info()?[3] == .boolean(true))
        #expect(scene(.recallScene, Self.ids(0, 6)) == .status(InteractionStatus(.notFound)))
        #expect(scene(.recallScene, Self.ids(9, 5)) == .status(InteractionStatus(.invalidCommand)))
    }

    @Test("An added scene is shown with its values, and its name and fields are checked")
    mutating func addAndView() {
        func set(_ cluster: UInt64, _ attribute: UInt64, _ value: UInt64, tag: UInt8 = 1) -> TLVValue {
            .fields((0, .unsigned(cluster)), (1, .array([.fields((0, .unsigned(attribute)), (tag, .unsigned(value)))])))
        }
        func add(_ sets: [TLVValue], name: String = "Dinner", transition: UInt64 = 1000, scene id: UInt64 = 1)
            -> UInt64?
        {
            fixture.code(
                scene(
                    .addScene,
                    .fields(
                        (0, .unsigned(0)), (1, .unsigned(id)), (2, .unsigned(transition)), (3, .text(name)),
                        (4, .array(sets)))))
        }
        let sets = [set(6, 0, 0), set(8, 0, 33)]
        #expect(add(sets) == 0)
        guard case .response(1, let view) = scene(.viewScene, Self.ids(0, 1)) else { return #expect(Bool(false)) }
        #expect(view[3] == .unsigned(1000))
        #expect(view[4] == .text("Dinner"))
        #expect(view[5] == .array(sets))
        // A scene that switches off does not change the level.
        let recall = fixture.perform(
            .scenesManagement, ScenesManagement.Command.recallScene, Self.ids(0, 1), as: session)
        #expect(recall.commands == [.on(false)])
        #expect(add(sets, name: "12345678901234567") == 0x87)
        #expect(add(sets, transition: 60_000_001) == 0x87)
        #expect(add(sets, scene: 255) == 0x87)
        #expect(add([set(6, 1, 0)]) == 0x85)
        #expect(add([set(6, 0, 1, tag: 2)]) == 0x85)
        #expect(add([set(0x300, 7, 1)]) == 0)
    }

    @Test("Scenes are limited per fabric, listed, copied and removed")
    mutating func limitsAndRemoval() throws {
        for id in 0..<SceneTable.limit { #expect(fixture.code(scene(.storeScene, Self.ids(0, UInt64(id)))) == 0) }
        #expect(fixture.code(scene(.storeScene, Self.ids(0, 100))) == 0x89)
        #expect(fixture.code(scene(.storeScene, Self.ids(0, 1))) == 0)
        #expect(try info()?[0] == .unsigned(UInt64(SceneTable.limit)))
        #expect(try info()?[4] == .unsigned(0))
        #expect(fixture.code(scene(.removeScene, Self.ids(0, 1))) == 0)
        #expect(fixture.code(scene(.removeScene, Self.ids(0, 1))) == 0x8B)
        func copy(_ from: UInt64, _ to: UInt64) -> UInt64? {
            fixture.code(
                scene(
                    .copyScene,
                    .fields(
                        (0, .unsigned(0)), (1, .unsigned(0)), (2, .unsigned(from)), (3, .unsigned(0)),
                        (4, .unsigned(to)))))
        }
        #expect(copy(2, 99) == 0)
        #expect(copy(1, 98) == 0x8B)
        #expect(copy(2, 97) == 0x89)
        guard case .response(6, let list) = scene(.getSceneMembership, .fields((0, .unsigned(0)))) else {
            return #expect(Bool(false))
        }
        #expect(list[3]?.elements?.compactMap(\.asUnsigned) == [0, 2, 3, 4, 5, 6, 99])
        #expect(fixture.code(scene(.removeAllScenes, .fields((0, .unsigned(0))))) == 0)
        #expect(try info()?[4] == .unsigned(UInt64(SceneTable.limit)))
        #expect(try info()?[1] == .unsigned(0xFF))
    }

    @Test("Leaving a group removes its scenes")
    mutating func scenesOfAGroup() throws {
        addKey(groups: [3])
        #expect(try addGroup(3) == 0)
        #expect(fixture.code(scene(.storeScene, Self.ids(3, 1))) == 0)
        #expect(fixture.code(scene(.storeScene, Self.ids(0, 1))) == 0)
        _ = try group(.removeGroup, .fields((0, .unsigned(3))))
        #expect(fixture.stored?.fabric(1)?.scenes.scenes.map(\.group) == [0])
    }

    @Test("Key sets are checked, never returned with keys, and removed with their assignments")
    mutating func keySets() {
        func write(_ fields: TLVValue) -> CommandReply {
            fixture.invoke(
                .groupKeyManagement, GroupKeyManagement.Command.keySetWrite, .fields((0, fields)), as: session)
        }
        let key = TLVValue.bytes(Array(repeating: 1, count: 16))
        let invalid = CommandReply.status(InteractionStatus(.invalidCommand))
        #expect(write(.fields((0, .unsigned(1)), (1, .unsigned(1)), (2, key), (3, .unsigned(1)))) == invalid)
        #expect(write(.fields((0, .unsigned(1)), (1, .unsigned(0)), (2, key), (3, .unsigned(0)))) == invalid)
        #expect(write(.fields((0, .unsigned(1)), (1, .unsigned(0)), (2, .null), (3, .null))) == invalid)
        #expect(
            write(
                .fields((0, .unsigned(1)), (1, .unsigned(0)), (2, key), (3, .unsigned(5)), (4, key), (5, .unsigned(5))))
                == invalid)
        #expect(
            write(.fields((0, .unsigned(1)), (1, .unsigned(0)), (2, .bytes([1])), (3, .unsigned(5))))
                == .status(InteractionStatus(.constraintError)))
        for id in 1..<UInt64(GroupKeySet.limit) {
            #expect(
                write(.fields((0, .unsigned(id)), (1, .unsigned(0)), (2, key), (3, .unsigned(5)))) == .status(.success))
        }
        #expect(
            write(.fields((0, .unsigned(9)), (1, .unsigned(0)), (2, key), (3, .unsigned(5))))
                == .status(InteractionStatus(.resourceExhausted)))
        let read = fixture.invoke(
            .groupKeyManagement, GroupKeyManagement.Command.keySetRead, .fields((0, .unsigned(1))), as: session)
        guard case .response(2, let value) = read else { return #expect(Bool(false)) }
        #expect(value[0]?[2] == .null)
        #expect(value[0]?[3] == .unsigned(5))
        func remove(_ id: UInt64) -> CommandReply {
            fixture.invoke(
                .groupKeyManagement, GroupKeyManagement.Command.keySetRemove, .fields((0, .unsigned(id))), as: session)
        }
        #expect(remove(0) == invalid)
        #expect(remove(1) == .status(.success))
        #expect(remove(1) == .status(InteractionStatus(.notFound)))
        #expect(
            fixture.invoke(.groupKeyManagement, GroupKeyManagement.Command.keySetReadAllIndices, as: session)
                == .response(5, .fields((0, .numbers([UInt16(0), 2, 3])))))
    }
}
