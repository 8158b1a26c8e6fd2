import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@testable import Matter

@Suite struct NodeRecordsTests {
    /// Records with a value in every field.
    private func records() throws -> MatterRecords {
        var fixture = try NodeFixture()
        let session = try fixture.commission()
        _ = try fixture.commission(root: 2)
        let set = TLVValue.fields(
            (0, .unsigned(7)), (1, .unsigned(0)), (2, .bytes(Array(repeating: 1, count: 16))), (3, .unsigned(1)))
        #expect(
            fixture.invoke(.groupKeyManagement, GroupKeyManagement.Command.keySetWrite, .fields((0, set)), as: session)
                == .status(.success))
        let mapping = TLVValue.array([.fields((1, .unsigned(3)), (2, .unsigned(7)))])
        #expect(
            fixture.write(.groupKeyManagement, GroupKeyManagement.Attribute.groupKeyMap, mapping, as: session)
                == .success)
        let group = TLVValue.fields((0, .unsigned(3)), (1, .text("Hall")))
        #expect(fixture.code(fixture.invoke(.groups, Groups.Command.addGroup, on: 1, group, as: session)) == 0)
        fixture.node.look(PlugValues(isOn: true, level: 9), now: fixture.now)
        let scene = TLVValue.fields((0, .unsigned(3)), (1, .unsigned(1)))
        #expect(
            fixture.code(
                fixture.invoke(.scenesManagement, ScenesManagement.Command.storeScene, on: 1, scene, as: session))
                == 0)
        #expect(fixture.write(.onOff, OnOff.Attribute.startUpOnOff, on: 1, .unsigned(2), as: session) == .success)
        #expect(
            fixture.write(.levelControl, LevelControl.Attribute.startUpCurrentLevel, on: 1, .unsigned(0), as: session)
                == .success)
        #expect(
            fixture.write(.basicInformation, BasicInformation.Attribute.nodeLabel, .text("Küche"), as: session)
                == .success)
        fixture.node.press(.single, number: 12, now: fixture.now)
        fixture.node.rename("plug")
        fixture.takeEffects()
        return try #require(fixture.stored)
    }

    @Test("Stored records are restored with all values")
    func roundTrip() throws {
        let records = try records()
        let decoded = try MatterRecords(decoding: records.encoded)
        #expect(decoded == records)
        #expect(decoded.fabrics.count == 2)
        #expect(decoded.fabric(1)?.scenes[3, 1]?.level == 9)
        #expect(decoded.fabric(1)?.groups.first?.name == "Hall")
        #expect(decoded.settings.startUpOnOff == 2)
        #expect(decoded.settings.startUpLevel == 0)
        #expect(decoded.counters.lastPress == 12)
        #expect(try MatterRecords(decoding: MatterRecords().encoded) == MatterRecords())
    }

    @Test("Damaged records are rejected or decoded, but never trap")
    func damagedRecords() throws {
        let bytes = try records().encoded
        for count in stride(from: 0, to: bytes.count, by: 7) {
            #expect(throws: MatterError.self) { try MatterRecords(decoding: Array(bytes.prefix(count))) }
        }
        var rejected = 0
        for place in stride(from: 0, to: bytes.count, by: 11) {
            var damaged = bytes
            damaged[place] ^= 0x15
            if (try? MatterRecords(decoding: damaged)) == nil { rejected += 1 }
        }
        // Most bytes belong to certificates and keys, which are verified.
        #expect(rejected > bytes.count / 11 / 2)
        #expect(throws: MatterError.self) { try MatterRecords(decoding: [UInt8](repeating: 0, count: 20)) }
    }

    @Test("Descriptions contain no key")
    func descriptions() throws {
        let records = try records()
        let fabric = try #require(records.fabrics.first)
        #expect("\(records)" == "Matter records with 2 fabrics")
        #expect(!"\(fabric)".contains("\(fabric.credentials.key)"))
        #expect(!"\(fabric)".contains("\(fabric.keySets[0].keys[0].key)"))
    }

    @Test("Event numbers increase across restarts, also after a loss of power")
    func eventNumbers() throws {
        var fixture = try NodeFixture()
        var newest = try #require(fixture.node.events(after: nil).last?.number)
        var press: UInt64 = 0
        for restart in 0..<4 {
            for _ in 0..<(restart == 1 ? 2000 : 20) {
                press += 1
                fixture.node.press(.double, number: press, now: fixture.now)
                fixture.takeEffects()
            }
            let events = fixture.node.events(after: nil)
            #expect(events.count == EventJournal.limit)
            #expect(zip(events, events.dropFirst()).allSatisfy { $0.number < $1.number })
            let last = try #require(events.last?.number)
            let stored = try #require(fixture.stored)
            #expect(last > newest)
            #expect(last < stored.counters.eventLimit)
            newest = last
            fixture = try NodeFixture(records: try MatterRecords(decoding: stored.encoded))
            #expect(try #require(fixture.node.events(after: nil).first?.number) > newest)
        }
    }

    @Test("The start is recorded once, with its reason, and counted unless only the process restarted")
    func start() throws {
        var fixture = try NodeFixture()
        let events = fixture.node.events(after: nil)
        #expect(events.map(\.path) == [ConcretePath(0, 0x28, 0), ConcretePath(0, 0x33, 3)])
        #expect(events.map(\.priority) == [2, 2])
        #expect(events.last?.value[0] == .unsigned(1))
        #expect(try fixture.read(.generalDiagnostics, GeneralDiagnostics.Attribute.rebootCount) == .unsigned(1))
        let records = try #require(fixture.stored)
        fixture = try NodeFixture(records: records, startReason: .softwareReset)
        #expect(try fixture.read(.generalDiagnostics, GeneralDiagnostics.Attribute.rebootCount) == .unsigned(1))
        fixture = try NodeFixture(records: records, startReason: .powerOn)
        #expect(try fixture.read(.generalDiagnostics, GeneralDiagnostics.Attribute.rebootCount) == .unsigned(2))
        fixture.node.shutDown(now: fixture.now)
        #expect(fixture.node.events(after: nil).last?.path == ConcretePath(0, 0x28, 1))
    }

    @Test("A new name of the plug replaces a label, an unchanged name does not")
    func labels() throws {
        var fixture = try NodeFixture()
        let session = try fixture.commission()
        func label() throws -> String? {
            try fixture.read(.basicInformation, BasicInformation.Attribute.nodeLabel).asText
        }
        fixture.node.rename("Plug")
        #expect(try label() == "Plug")
        let attribute = BasicInformation.Attribute.nodeLabel
        #expect(fixture.write(.basicInformation, attribute, .text("Kettle"), as: session) == .success)
        fixture.node.rename("Plug")
        #expect(try label() == "Kettle")
        fixture.node.rename("Straßenlaterne im Garten hinter dem Haus")
        #expect(try label() == "Straßenlaterne im Garten hinter")
        #expect(
            fixture.write(.basicInformation, attribute, .text(String(repeating: "x", count: 33)), as: session)
                == .constraintError)
    }
}
