import HomeKit
import ProtocolCore
import TestSupport
import Testing

private typealias Key = SimulatedAccessory.Key

@Suite struct EventTests {
    private static let subscription =
        "{\"characteristics\":[{\"aid\":1,\"iid\":9,\"ev\":true},{\"aid\":1,\"iid\":11,\"ev\":true},{\"aid\":1,\"iid\":21,\"ev\":true}]}"

    private func subscribed(_ plug: inout SimulatedAccessory) throws -> (SimulatedController, SimulatedConnection) {
        var (owner, session) = try plug.pairedSession()
        #expect(try plug.ask(&session, "PUT", "/characteristics", json: Self.subscription).status == 204)
        return (owner, session)
    }

    @Test("A changing value is sent at most once per second, with its newest value")
    func valuesAreToldOnceASecondAsTheyAre() throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try subscribed(&plug)
        for step in 1...20 {
            plug.handle(.changed([Key.power: .number(Double(step)), Key.name: .text("\(step)")], by: nil))
            plug.wait(.milliseconds(100))
        }
        plug.wait(.seconds(2))
        try plug.deliver(&session)
        let watts = session.takeEvents().map { $0.split(separator: "\"value\":").last.map(String.init) ?? "" }
        #expect(watts == ["1}]}", "10}]}", "20}]}"])
    }

    @Test("A write causes an event for other sessions, but not for the writer")
    func theWriterIsNotToldAndOthersAre() throws {
        var plug = try SimulatedAccessory()
        var (owner, first) = try subscribed(&plug)
        var second = try plug.session(owner)
        #expect(try plug.ask(&second, "PUT", "/characteristics", json: Self.subscription).status == 204)
        let json = "{\"characteristics\":[{\"aid\":1,\"iid\":9,\"value\":true}]}"
        #expect(try plug.ask(&first, "PUT", "/characteristics", json: json).status == 204)
        plug.wait(.seconds(2))
        try plug.deliver(&first)
        try plug.deliver(&second)
        #expect(first.takeEvents() == [])
        #expect(second.takeEvents() == ["{\"characteristics\":[{\"aid\":1,\"iid\":9,\"value\":true}]}"])
    }

    @Test("Events are sent only to subscribed sessions, and subscriptions end with the session")
    func nobodyIsToldWithoutASubscription() throws {
        var plug = try SimulatedAccessory()
        var (owner, session) = try subscribed(&plug)
        let end = "{\"characteristics\":[{\"aid\":1,\"iid\":11,\"ev\":false}]}"
        plug.handle(.changed([Key.power: .number(1)], by: nil))
        plug.handle(.changed([Key.power: .number(2)], by: nil))
        #expect(try plug.ask(&session, "PUT", "/characteristics", json: end).status == 204)
        #expect(session.takeEvents().count == 1)
        plug.wait(.seconds(5))
        plug.handle(.changed([Key.power: .number(3)], by: nil))
        plug.wait(.seconds(5))
        try plug.deliver(&session)
        #expect(session.takeEvents() == [])
        // Subscriptions end with the session.
        var again = try plug.session(owner)
        plug.handle(.changed([Key.on: .boolean(true)], by: nil))
        try plug.deliver(&again)
        #expect(again.takeEvents() == [])
    }

    @Test("Each press is sent immediately, and never to a later subscriber") func eachPressIsToldAtOnce() throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try subscribed(&plug)
        for press in [0, 0, 1, 2] as [Int64] { plug.handle(.pressed(Key.button, .whole(press))) }
        try plug.deliver(&session)
        #expect(
            session.takeEvents()
                == [0, 0, 1, 2].map { "{\"characteristics\":[{\"aid\":1,\"iid\":21,\"value\":\($0)}]}" })
        // A new subscription receives no earlier press.
        #expect(try plug.ask(&session, "PUT", "/characteristics", json: Self.subscription).status == 204)
        plug.wait(.seconds(3))
        try plug.deliver(&session)
        #expect(session.takeEvents() == [])
        plug.handle(.pressed(Key.on, .boolean(true)))
        #expect(plug.notices.contains(.impossibleValue(Key.on)))
    }

    @Test("A session that does not read has limited output and is closed after 30 s")
    func whoReadsNothingIsToldNoMoreAndLoses() throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try subscribed(&plug)
        plug.deaf.insert(session.id)
        for press in 0..<5000 {
            plug.handle(.pressed(Key.button, .whole(Int64(press % 3))))
            plug.handle(.changed([Key.power: .number(Double(press % 7))], by: nil))
        }
        #expect((plug.output[session.id] ?? []).count < 70_000)
        // Requests do not increase the output either.
        for _ in 0..<100 where plug.isOpen(session) {
            plug.handle(.received(session.id, try session.request("GET", "/accessories")))
        }
        #expect((plug.output[session.id] ?? []).count < 70_000)
        plug.wait(.seconds(30))
        #expect(!plug.isOpen(session))
        #expect(plug.server.nextDeadline == nil)
    }

    @Test("A session that reads again receives the newest value") func whoReadsAgainIsToldTheNewestValue() throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try subscribed(&plug)
        plug.deaf.insert(session.id)
        for press in 0..<1000 { plug.handle(.pressed(Key.button, .whole(Int64(press % 3)))) }
        plug.handle(.changed([Key.power: .number(1)], by: nil))
        plug.handle(.changed([Key.power: .number(2)], by: nil))
        plug.deaf = []
        plug.handle(.drained(session.id))
        plug.wait(.seconds(1))
        try plug.deliver(&session)
        #expect(session.takeEvents().last == "{\"characteristics\":[{\"aid\":1,\"iid\":11,\"value\":2}]}")
    }
}

@Suite struct SessionTests {
    @Test("Unverified connections are limited to eight, and to 10 s each")
    func strangersHaveEightSessionsAndTenSeconds() throws {
        var plug = try SimulatedAccessory()
        let strangers = (0..<8).map { _ in plug.open() }
        var ninth = plug.open()
        #expect(!plug.isOpen(ninth))
        try plug.deliver(&ninth)
        #expect(ninth.takeAnswer()?.status == 503)
        plug.wait(.seconds(9))
        #expect(strangers.allSatisfy(plug.isOpen))
        // Complete and partial requests do not extend the time.
        plug.handle(.received(strangers[0].id, Array("GET /acc".utf8)))
        var busy = strangers[1]
        #expect(try plug.ask(&busy, "POST", "/identify").status == 204)
        plug.wait(.seconds(1))
        #expect(!strangers.contains(where: plug.isOpen))
        #expect(plug.server.nextDeadline == nil)
        _ = try plug.pairedSession()
    }

    @Test("Eight verified and eight unverified sessions fit, and a ninth verified one replaces the longest idle one")
    func eightControllersAndEightStrangers() throws {
        var plug = try SimulatedAccessory()
        let (owner, first) = try plug.pairedSession()
        var sessions = [first]
        for _ in 1..<8 {
            plug.wait(.seconds(1))
            sessions.append(try plug.session(owner))
        }
        let strangers = (0..<8).map { _ in plug.open() }
        let seventeenth = plug.open()
        #expect(strangers.allSatisfy(plug.isOpen))
        #expect(!plug.isOpen(seventeenth))
        #expect(sessions.allSatisfy(plug.isOpen))
        plug.wait(.seconds(10))
        // A ninth session replaces the one that was idle longest.
        _ = try plug.session(owner)
        #expect(!plug.isOpen(first))
        #expect(sessions.dropFirst().allSatisfy(plug.isOpen))
    }

    @Test("A verified session has no idle timeout") func verifiedSessionsStay() throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try plug.pairedSession()
        plug.wait(.seconds(100_000))
        #expect(try plug.ask(&session, "GET", "/accessories").status == 200)
    }

    @Test("Pipelined requests are answered in order") func requestsInOneReadAreAnsweredInOrder() throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try plug.pairedSession()
        var bytes: [UInt8] = []
        for iid in [9, 10, 99] { bytes += try session.request("GET", "/characteristics?id=1.\(iid)") }
        for byte in bytes { plug.handle(.received(session.id, [byte])) }
        try plug.deliver(&session)
        #expect((0..<3).map { _ in session.takeAnswer()?.status } == [200, 200, 207])
    }

    @Test("An invalid request is answered with 400 and closes the session")
    func whatIsNoRequestEndsTheSession() throws {
        var plug = try SimulatedAccessory()
        var connection = plug.open()
        plug.handle(.received(connection.id, Array("hello\r\n\r\n".utf8)))
        try plug.deliver(&connection)
        #expect(connection.takeAnswer()?.status == 400)
        #expect(!plug.isOpen(connection))
    }

    @Test("Too much input behind an unanswered request closes the session")
    func tooMuchBehindAnUnansweredRequestEndsTheSession() throws {
        var plug = try SimulatedAccessory()
        plug.obeys = false
        var (_, session) = try plug.pairedSession()
        let json = Array("{\"characteristics\":[{\"aid\":1,\"iid\":9,\"value\":true}]}".utf8)
        try plug.send(&session, "PUT", "/characteristics", json)
        for _ in 0..<2000 where plug.isOpen(session) {
            plug.handle(.received(session.id, try session.request("GET", "/accessories")))
        }
        #expect(plug.notices.contains(.closed(session.id, .tooMuchInput)))
    }

    @Test("A changed accessory increases the configuration number")
    func aNewShapeRaisesTheConfigurationNumber() throws {
        let first = try SimulatedAccessory()
        #expect(first.server.announcement.configurationNumber == 1)
        let same = try SimulatedAccessory(first.disk)
        #expect(same.storesAsked == 0)
        var other = SimulatedAccessory.outlet
        other.services.removeLast()
        other.services[1].linked = []
        let changed = try SimulatedAccessory(first.disk, accessories: [other])
        #expect(changed.server.announcement.configurationNumber == 2)
        #expect(changed.disk.configurationNumber == 2)
    }
}
