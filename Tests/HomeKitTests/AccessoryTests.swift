import HomeKit
import ProtocolCore
import TestSupport
import Testing

private typealias Key = SimulatedAccessory.Key

@Suite struct CharacteristicsTests {
    @Test("The accessory database has the attributes of each characteristic") func attributesHaveEverything() throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try plug.pairedSession()
        let text = try plug.ask(&session, "GET", "/accessories").text
        #expect(text.hasPrefix("{\"accessories\":[{\"aid\":1,\"services\":[{\"iid\":1,\"type\":\"3E\""))
        #expect(
            text.contains("{\"iid\":3,\"type\":\"23\",\"perms\":[\"pr\"],\"format\":\"string\",\"value\":\"Lamp\"}"))
        #expect(
            text.contains(
                "{\"iid\":12,\"type\":\"8\",\"perms\":[\"pr\",\"pw\",\"ev\"],\"format\":\"int\",\"unit\":\"percentage\",\"minValue\":0,\"maxValue\":100,\"minStep\":1,\"value\":70,\"ev\":false}"
            ))
        #expect(text.contains("\"valid-values\":[0,1]"))
        #expect(text.contains("\"primary\":true,\"linked\":[20]"))
        #expect(text.contains("{\"iid\":2,\"type\":\"14\",\"perms\":[\"pw\"],\"format\":\"bool\"}"))
    }

    @Test("A read returns values, and a status for each characteristic if one fails")
    func readsAnswerWithStatuses() throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try plug.pairedSession()
        let all = try plug.ask(&session, "GET", "/characteristics?id=1.9,1.11,1.21")
        #expect(all.status == 200)
        #expect(
            all.text
                == "{\"characteristics\":[{\"aid\":1,\"iid\":9,\"value\":false},{\"aid\":1,\"iid\":11,\"value\":12.5},{\"aid\":1,\"iid\":21,\"value\":null}]}"
        )
        let some = try plug.ask(&session, "GET", "/characteristics?id=1.9,1.14,1.99")
        #expect(some.status == 207)
        #expect(some.text.contains("{\"aid\":1,\"iid\":9,\"value\":false,\"status\":0}"))
        #expect(some.text.contains("{\"aid\":1,\"iid\":14,\"status\":-70405}"))
        #expect(some.text.contains("{\"aid\":1,\"iid\":99,\"status\":-70409}"))
        let meta = try plug.ask(&session, "GET", "/characteristics?id=1.9&meta=1&perms=1&type=1&ev=1")
        #expect(
            meta.text.contains(
                "\"value\":false,\"type\":\"25\",\"perms\":[\"pr\",\"pw\",\"ev\"],\"format\":\"bool\",\"ev\":false"))
    }

    @Test(
        "Each invalid read is answered with its HTTP status, and the session stays open",
        arguments: [
            ("", 422), ("?id=", 400), ("?id=1", 400), ("?id=1.x", 400), ("?id=1.9,", 400), ("?id=-1.9", 400),
            ("?id=1.99999999999999999999999", 400), ("?id=1.9&meta=2", 400), ("?id=1.18446744073709551615", 207),
        ])
    func readsThatAreWrongAreRefused(_ query: String, _ status: Int) throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try plug.pairedSession()
        #expect(try plug.ask(&session, "GET", "/characteristics\(query)").status == status)
        #expect(plug.isOpen(session))
    }

    @Test("A write names the controller that sent it, and that controller receives no event for it")
    func aWriteIsCarriedOut() throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try plug.pairedSession()
        let answer = try plug.ask(
            &session, "PUT", "/characteristics",
            json: "{\"characteristics\":[{\"aid\":1,\"iid\":9,\"value\":1,\"authData\":\"x\",\"remote\":true}]}")
        #expect((answer.status, answer.body) == (204, []))
        let write = try #require(plug.writes.first)
        #expect((write.controller.name, write.controller.isAdmin) == ("owner", true))
        #expect(write.values.map(\.value) == [.boolean(true)])
        #expect(try plug.ask(&session, "GET", "/characteristics?id=1.9").text.contains("\"value\":true"))
        #expect(session.takeEvents().isEmpty)
    }

    @Test(
        "Each invalid entry of a write has its status",
        arguments: [
            ("{\"aid\":1,\"iid\":99,\"value\":1}", -70409), ("{\"aid\":1,\"iid\":11,\"value\":1}", -70404),
            ("{\"aid\":1,\"iid\":12,\"value\":101}", -70410), ("{\"aid\":1,\"iid\":12,\"value\":\"a\"}", -70410),
            ("{\"aid\":1,\"iid\":12,\"value\":1e300}", -70410), ("{\"aid\":1,\"iid\":3,\"ev\":true}", -70406),
            ("{\"aid\":1,\"iid\":13,\"value\":1}", -70410), ("{\"aid\":1,\"iid\":9}", -70410),
        ])
    func writesThatAreImpossibleHaveAStatus(_ entry: String, _ status: Int) throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try plug.pairedSession()
        let answer = try plug.ask(
            &session, "PUT", "/characteristics",
            json: "{\"characteristics\":[\(entry),{\"aid\":1,\"iid\":9,\"value\":true}]}")
        #expect(answer.status == 207)
        #expect(answer.text.contains("\"status\":\(status)"))
    }

    @Test(
        "A write with an invalid body is rejected and changes nothing",
        arguments: [
            ("", 400), ("{", 400), ("[]", 400), ("{}", 422), ("{\"characteristics\":[]}", 422),
            ("{\"characteristics\":[{\"iid\":9,\"value\":1}]}", 422),
            ("{\"characteristics\":[{\"aid\":1.5,\"iid\":9,\"value\":1}]}", 422),
            ("{\"characteristics\":[{\"aid\":-1,\"iid\":9,\"value\":1}]}", 422),
            ("{\"characteristics\":[{\"aid\":1,\"iid\":9,\"value\":[1]}]}", 400),
        ])
    func whatIsNoWriteIsRefused(_ json: String, _ status: Int) throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try plug.pairedSession()
        #expect(try plug.ask(&session, "PUT", "/characteristics", json: json).status == status)
        #expect(plug.writes.isEmpty)
    }

    @Test("A write with \"r\" returns the value of the characteristic") func aWriteMayBeAnsweredWithAValue() throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try plug.pairedSession()
        let answer = try plug.ask(
            &session, "PUT", "/characteristics",
            json: "{\"characteristics\":[{\"aid\":1,\"iid\":14,\"value\":\"AQID\",\"r\":true}]}")
        #expect(answer.status == 207)
        #expect(answer.text == "{\"characteristics\":[{\"aid\":1,\"iid\":14,\"status\":0,\"value\":\"AQID\"}]}")
    }

    @Test("A prepared write is accepted only once, only with its pid, and only before its ttl ends")
    func aTimedWriteIsInTimeOrRefused() throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try plug.pairedSession()
        func write(_ pid: Int) -> String {
            "{\"characteristics\":[{\"aid\":1,\"iid\":13,\"value\":1}],\"pid\":\(pid)}"
        }
        func prepare() throws {
            let answer = try plug.ask(&session, "PUT", "/prepare", json: "{\"ttl\":2000,\"pid\":7}")
            #expect(answer.text == "{\"status\":0}")
        }
        try prepare()
        #expect(try plug.ask(&session, "PUT", "/characteristics", json: write(7)).status == 204)
        // A prepared write is accepted only once.
        #expect(try plug.ask(&session, "PUT", "/characteristics", json: write(7)).text.contains("-70410"))
        try prepare()
        #expect(try plug.ask(&session, "PUT", "/characteristics", json: write(8)).text.contains("-70410"))
        try prepare()
        plug.wait(.seconds(2))
        #expect(try plug.ask(&session, "PUT", "/characteristics", json: write(7)).text.contains("-70410"))
        #expect(plug.writes.count == 1)
        for json in ["{\"ttl\":1}", "{\"ttl\":-1,\"pid\":1}", "{}"] {
            #expect(try plug.ask(&session, "PUT", "/prepare", json: json).status == 422)
        }
        let longest = "{\"ttl\":18446744073709551615,\"pid\":18446744073709551615}"
        #expect(try plug.ask(&session, "PUT", "/prepare", json: longest).status == 200)
    }

    @Test("A write without an answer times out after 10 s, and a late answer is ignored")
    func aWriteThatIsNotAnsweredTimesOut() throws {
        var plug = try SimulatedAccessory()
        plug.obeys = false
        var (_, session) = try plug.pairedSession()
        let json = Array("{\"characteristics\":[{\"aid\":1,\"iid\":9,\"value\":true}]}".utf8)
        try plug.send(&session, "PUT", "/characteristics", json)
        // The next request is answered only after the write.
        try plug.send(&session, "GET", "/characteristics?id=1.9")
        #expect(session.takeAnswer() == nil)
        plug.wait(.seconds(10))
        try plug.deliver(&session)
        #expect(session.takeAnswer()?.text.contains("-70408") == true)
        #expect(session.takeAnswer()?.status == 200)
        // The late answer is ignored.
        plug.handle(.answered(try #require(plug.writes.first).request, [Key.on: .done]))
        try plug.deliver(&session)
        #expect(session.takeAnswer() == nil)
    }

    @Test("Failures of the accessory are returned as statuses") func failuresOfTheAccessoryAreTold() throws {
        var plug = try SimulatedAccessory()
        plug.obeys = false
        var (_, session) = try plug.pairedSession()
        let json = "{\"characteristics\":[{\"aid\":1,\"iid\":9,\"value\":true},{\"aid\":1,\"iid\":12,\"value\":5}]}"
        try plug.send(&session, "PUT", "/characteristics", Array(json.utf8))
        plug.handle(.answered(try #require(plug.writes.first).request, [Key.on: .failed(.busy)]))
        try plug.deliver(&session)
        let text = session.takeAnswer()?.text ?? ""
        #expect(text.contains("\"iid\":9,\"status\":-70403"))
        #expect(text.contains("\"iid\":12,\"status\":-70402"))
    }

    @Test("Concurrent writes of two controllers are answered separately") func twoControllersWriteAtOnce() throws {
        var plug = try SimulatedAccessory()
        plug.obeys = false
        var (owner, first) = try plug.pairedSession()
        var guest = SimulatedController("guest")
        try plug.add(&guest, isAdmin: false, by: &first, owner)
        var second = try plug.session(guest)
        for value in ["true", "false"] {
            let json = Array("{\"characteristics\":[{\"aid\":1,\"iid\":9,\"value\":\(value)}]}".utf8)
            if value == "true" {
                try plug.send(&first, "PUT", "/characteristics", json)
            } else {
                try plug.send(&second, "PUT", "/characteristics", json)
            }
        }
        #expect(plug.writes.map(\.controller.name) == ["owner", "guest"])
        #expect(plug.writes.map(\.controller.isAdmin) == [true, false])
        for write in plug.writes.reversed() { plug.handle(.answered(write.request, [Key.on: .done])) }
        try plug.deliver(&first)
        try plug.deliver(&second)
        #expect(first.takeAnswer()?.status == 204)
        #expect(second.takeAnswer()?.status == 204)
    }

    @Test(
        "Unknown paths, methods that a path does not have, and pair-setup in a verified session are rejected",
        arguments: [
            ("GET", "/nothing", 404), ("POST", "/accessories", 405), ("GET", "/pairings", 405),
            ("GET", "/pair-setup", 405), ("DELETE", "/characteristics", 405), ("POST", "/pair-setup", 400),
        ])
    func otherPathsAndMethods(_ method: String, _ path: String, _ status: Int) throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try plug.pairedSession()
        #expect(try plug.ask(&session, method, path).status == status)
    }

    @Test(
        "Requests on an unverified connection are rejected with status 470",
        arguments: ["/accessories", "/characteristics?id=1.9"])
    func strangersReadNothing(_ path: String) throws {
        var plug = try SimulatedAccessory()
        var stranger = plug.open()
        #expect(try plug.ask(&stranger, "GET", path).status == 470)
        for target in ["/characteristics", "/prepare"] {
            #expect(try plug.ask(&stranger, "PUT", target, json: "{}").status == 470)
        }
        #expect(try plug.ask(&stranger, "POST", "/pairings", SimulatedAccessory.listing).status == 470)
    }
}
