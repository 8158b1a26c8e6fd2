import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@testable import Matter

@Suite struct NodeWindowTests {
    private typealias Command = AdministratorCommissioning.Command

    private func openEnhanced(
        _ fixture: inout NodeFixture, _ session: Accessor, seconds: UInt16 = 180, iterations: UInt32 = 1000,
        verifier: [UInt8]? = nil
    ) throws -> CommandReply {
        let fields = TLVValue.fields(
            (0, .number(seconds)), (1, .bytes(try verifier ?? NodeFixture.verifier().encoded)), (2, .unsigned(0xABC)),
            (3, .number(iterations)), (4, .bytes(Array(repeating: 2, count: 32))))
        return fixture.invoke(
            .administratorCommissioning, Command.openCommissioningWindow, fields, as: session)
    }

    private func status(_ fixture: NodeFixture) throws -> [TLVValue] {
        try AdministratorCommissioning.Attribute.allCases.map { try fixture.read(.administratorCommissioning, $0) }
    }

    @Test("The owner's window is announced until its time is over, and is not an administrator's window")
    func windowOfTheOwner() throws {
        var fixture = try NodeFixture()
        #expect(fixture.node.announcements.isEmpty)
        #expect(fixture.node.paseVerifier == nil)
        fixture.node.openWindow(.seconds(300), now: fixture.now)
        let announcement = try #require(fixture.node.announcements.first)
        #expect(announcement.type == "_matterc._udp")
        #expect(announcement.name.utf8.count == 16)
        #expect(announcement.subtypes == ["_L3840", "_S15", "_V65521", "_T267", "_CM"])
        let txt = Dictionary(uniqueKeysWithValues: announcement.txt)
        #expect(
            txt == [
                "D": "3840", "CM": "1", "VP": "65521+32769", "DT": "267", "DN": "Lamp", "PH": "32800", "PI": "5",
                "SII": "500", "SAI": "300", "SAT": "4000", "T": "0",
            ])
        #expect(try status(fixture) == [.unsigned(0), .null, .null])
        fixture.wait(.seconds(299))
        #expect(fixture.node.paseVerifier != nil)
        fixture.wait(.seconds(1))
        #expect(fixture.node.paseVerifier == nil)
        #expect(fixture.node.announcements.isEmpty)
        fixture.node.openWindow(.seconds(300), now: fixture.now)
        #expect(fixture.node.announcements.first?.name != announcement.name)
    }

    @Test("A session withdraws the announcement, and its end restores it while the window is open")
    func occupiedWindow() throws {
        var fixture = try NodeFixture()
        fixture.startCommissioning()
        #expect(fixture.node.announcements.isEmpty)
        fixture.node.sessionEnded(NodeFixture.context(of: NodeFixture.passcodeSession))
        #expect(fixture.node.announcements.count == 1)
        // The fail-safe of 60 s ends a session in which nothing happens.
        fixture.node.sessionEstablished(.commissioning)
        fixture.wait(.seconds(60))
        #expect(fixture.effects.contains(.endCommissioningSessions))
        #expect(fixture.node.announcements.count == 1)
    }

    @Test("An enhanced window has the administrator's passcode and discriminator")
    func enhancedWindow() throws {
        var fixture = try NodeFixture()
        let session = try fixture.commission()
        #expect(try openEnhanced(&fixture, session) == .status(.success))
        #expect(fixture.node.paseVerifier?.salt.count == 32)
        let announcement = try #require(fixture.node.announcements.first)
        #expect(announcement.subtypes.prefix(2) == ["_L2748", "_S10"])
        #expect(announcement.txt.contains { $0 == ("CM", "2") })
        #expect(try status(fixture) == [.unsigned(1), .unsigned(1), .unsigned(0xFFF1)])
        #expect(fixture.node.window.isEnhanced)
        // The removal of the administrator does not close the window.
        fixture.node.removeFabric(1)
        #expect(try status(fixture) == [.unsigned(1), .null, .unsigned(0xFFF1)])
    }

    @Test("Parameters of a window are checked")
    func windowParameters() throws {
        var fixture = try NodeFixture()
        let session = try fixture.commission()
        let invalid = CommandReply.status(InteractionStatus(.invalidCommand))
        let parameter = CommandReply.status(InteractionStatus(.failure, cluster: 3))
        #expect(try openEnhanced(&fixture, session, seconds: 179) == invalid)
        #expect(try openEnhanced(&fixture, session, seconds: 901) == invalid)
        #expect(try openEnhanced(&fixture, session, iterations: 999) == parameter)
        #expect(try openEnhanced(&fixture, session, iterations: 100_001) == parameter)
        #expect(try openEnhanced(&fixture, session, verifier: Array(repeating: 1, count: 97)) == parameter)
        #expect(try openEnhanced(&fixture, session, verifier: [1]) == parameter)
        #expect(fixture.node.paseVerifier == nil)
        #expect(try openEnhanced(&fixture, session, seconds: 900) == .status(.success))
    }

    @Test("A second window is refused, and RevokeCommissioning closes the window and undoes the commissioning")
    func revokedWindow() throws {
        var fixture = try NodeFixture()
        let session = try fixture.commission()
        let basic = TLVValue.fields((0, .unsigned(180)))
        func open() -> CommandReply {
            fixture.invoke(.administratorCommissioning, Command.openBasicCommissioningWindow, basic, as: session)
        }
        func revoke() -> CommandReply {
            fixture.invoke(.administratorCommissioning, Command.revokeCommissioning, as: session)
        }
        let notOpen = CommandReply.status(InteractionStatus(.failure, cluster: 4))
        #expect(revoke() == notOpen)
        #expect(open() == .status(.success))
        #expect(open() == .status(InteractionStatus(.failure, cluster: 2)))
        #expect(try openEnhanced(&fixture, session) == .status(InteractionStatus(.failure, cluster: 2)))
        fixture.node.sessionEstablished(.commissioning)
        _ = try fixture.requestSigning()
        #expect(revoke() == .status(.success))
        #expect(throws: ReplyError.self) { try fixture.requestSigning() }
        #expect(fixture.node.paseVerifier == nil)
        #expect(revoke() == notOpen)
        #expect(fixture.armFailSafe(60, as: session) == 0)
        #expect(open() == .status(InteractionStatus(.failure, cluster: 2)))
    }

    @Test("Each fabric has an operational announcement")
    func operationalAnnouncement() throws {
        var fixture = try NodeFixture()
        _ = try fixture.commission()
        let announcement = try #require(fixture.node.announcements.first)
        let fabric = try #require(fixture.node.fabrics.first)
        let id = hexadecimal(fabric.compressedID)
        #expect(announcement.name == "\(id)-000000000000D00D")
        #expect(announcement.type == "_matter._tcp")
        #expect(announcement.subtypes == ["_I\(id)"])
        #expect(announcement.txt.map(\.0) == ["SII", "SAI", "SAT", "T"])
    }
}
