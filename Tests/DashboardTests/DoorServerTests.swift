import Foundation
import PowerHistory
import ProtocolCore
import TestSupport
import Testing

@testable import Dashboard

@Suite struct DoorServerTests {
    private func status(_ answer: String) -> Int? {
        answer.hasPrefix("HTTP/1.1 ") ? Int(answer.dropFirst(9).prefix(3)) : nil
    }

    @Test("Valid and invalid requests get the expected status and the security headers")
    func theRightThingIsSaidToEveryMistake() async throws {
        try await DashboardAtWork.run { dashboard in
            let json = "Content-Type: application/json"
            let relay = "/api/v1/plugs/Lamp/relay"
            let long = String(repeating: "x", count: 5000)
            let answers: [(Int, String)] = [
                (200, try await dashboard.ask("GET", "/")),
                (200, try await dashboard.ask("GET", "/health")),
                (404, try await dashboard.ask("GET", "/nothing")),
                (404, try await dashboard.ask("GET", "/../../etc/passwd")),
                (404, try await dashboard.ask("GET", "/%2e%2e/%2e%2e/etc/passwd")),
                (404, try await dashboard.ask("GET", "/..%5c..%5cetc")),
                (405, try await dashboard.ask("DELETE", "/health")),
                (405, try await dashboard.ask("OPTIONS", relay)),
                (405, try await dashboard.ask("PUT", relay, json, body: "{}")),
                (413, try await dashboard.ask("POST", relay, json, body: "{\"on\": \"\(long)\"}")),
                (413, try await dashboard.ask("POST", relay, json, "Content-Length: 99999999999")),
                (414, try await dashboard.ask("GET", "/?\(long)")),
                (415, try await dashboard.ask("POST", relay, "Content-Type: text/plain", body: "{}")),
                (415, try await dashboard.ask("POST", relay, body: "{}")),
                (403, try await dashboard.ask("GET", "/", "Host: evil.example")),
                (400, try await dashboard.ask("GET", "/", "Host: localhost", "Host: evil.example")),
                (400, try await dashboard.say("GET / HTTP/1.0\r\n\r\n")),
                (403, try await dashboard.ask("POST", relay, json, "Origin: http://evil.example", body: "{}")),
                (403, try await dashboard.ask("POST", relay, json, "Sec-Fetch-Site: cross-site", body: "{}")),
                (403, try await dashboard.ask("GET", "/api/v1/house", "Sec-Fetch-Site: cross-site")),
                (403, try await dashboard.ask("GET", "/metrics", "Sec-Fetch-Site: same-site")),
                (200, try await dashboard.ask("GET", "/api/v1/house", "Sec-Fetch-Site: same-origin")),
                (200, try await dashboard.ask("GET", "/", "Sec-Fetch-Site: cross-site")),
                (400, try await dashboard.ask("GET", "/", "X: \(long)\(long)")),
                (400, try await dashboard.say("this is not HTTP\r\n\r\n")),
                (409, try await dashboard.ask("POST", "/api/v1/session", json, body: "{\"password\": \"x\"}")),
                (400, try await dashboard.ask("POST", "/api/v1/session", json, body: "{\"user\": \"x\"}")),
                (204, try await dashboard.ask("DELETE", "/api/v1/session")),
            ]
            for (index, (expected, answer)) in answers.enumerated() {
                #expect(status(answer) == expected, "\(index): \(answer.prefix(300))")
                #expect(answer.lowercased().contains("content-security-policy: default-src 'none'"), "\(index)")
                #expect(answer.lowercased().contains("x-content-type-options: nosniff"), "\(index)")
            }
            #expect(answers[6].1.contains("allow: GET, HEAD") || answers[6].1.contains("Allow: GET, HEAD"))
            #expect(answers[14].1.contains("\"hint\""))
        }
    }

    @Test("HEAD returns no body, even for an error")
    func whoAsksForTheHeadGetsNoBodyAlsoOfAFault() async throws {
        try await DashboardAtWork.run { dashboard in
            for (path, expected) in [("/nothing", 404), ("/api/v1/plugs/Nobody", 404), ("/health?x=1", 400)] {
                let head = try await dashboard.ask("HEAD", path)
                #expect(status(head) == expected)
                #expect(head.hasSuffix("\r\n\r\n"))
            }
        }
    }

    @Test("An unchanged page is answered with 304")
    func aPageIsNotSentTwice() async throws {
        try await DashboardAtWork.run { dashboard in
            let first = try await dashboard.ask("GET", "/")
            let tag = try #require(
                first.split(separator: "\r\n").first { $0.lowercased().hasPrefix("etag: ") }?.dropFirst(6))
            #expect(first.lowercased().contains("cache-control: no-cache"))
            let again = try await dashboard.ask("GET", "/", "If-None-Match: W/\"x\", \(tag)")
            #expect(status(again) == 304)
            #expect(again.hasSuffix("\r\n\r\n"))
            let head = try await dashboard.ask("HEAD", "/")
            #expect(status(head) == 200)
            #expect(head.hasSuffix("\r\n\r\n"))
        }
    }

    @Test("Pipelined requests are answered in order")
    func severalRequestsMayComeAtOnce() async throws {
        try await DashboardAtWork.run { dashboard in
            let one = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let answer = try await dashboard.say(one + one + DashboardAtWork.request("GET", "/nothing", []))
            #expect(answer.components(separatedBy: "HTTP/1.1 200").count == 3)
            #expect(answer.components(separatedBy: "HTTP/1.1 404").count == 2)
        }
    }

    @Test("The local socket needs no password and accepts any Host field")
    func theLocalSocketAsksForNothing() async throws {
        try await DashboardAtWork.run({ try $0.password.set("correct horse battery") }) { dashboard in
            let house = DashboardAtWork.request("GET", "/api/v1/house", ["Host: whatever"])
            #expect(try await status(dashboard.say(house.replacing("whatever", with: "localhost"))) == 401)
            #expect(try await status(dashboard.sayLocally(house)) == 200)
            #expect(try await status(dashboard.sayLocally("GET /health HTTP/1.0\r\n\r\n")) == 200)
            let mode = try FileManager.default.attributesOfItem(atPath: dashboard.socket)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("The directory of the history is shown over the local socket only")
    func historyDirectory() async throws {
        let directory = TestFolder()
        let history = try PowerHistory(directory.path, role: .recorder)
        try await DashboardAtWork.run(history: history) { dashboard in
            let local = try await dashboard.sayLocally("GET /health HTTP/1.0\r\n\r\n")
            #expect(local.hasSuffix("{\"history\":\"\(directory.path)\",\"status\":\"ok\"}"))
            #expect(try await dashboard.ask("GET", "/health").hasSuffix("{\"status\":\"ok\"}"))
        }
    }

    @Test("A right password opens the API, and the next try after a wrong password must wait")
    func whoKnowsThePasswordGetsIn() async throws {
        let password = "correct horse battery"
        let change = { (settings: inout DashboardSettings) in
            try settings.password.set(password)
            // The second after the wrong password does not end.
            settings.clock = { .zero }
        }
        try await DashboardAtWork.run(change) { dashboard in
            let json = "Content-Type: application/json"
            let basic = "Authorization: Basic \(Data("me:\(password)".utf8).base64EncodedString())"
            #expect(try await status(dashboard.ask("GET", "/api/v1/house", basic)) == 200)
            #expect(try await status(dashboard.ask("GET", "/")) == 200)
            #expect(try await status(dashboard.ask("GET", "/health")) == 200)
            let session = try await dashboard.ask("GET", "/api/v1/session")
            #expect(session.hasSuffix("{\"loggedIn\":false,\"passwordNeeded\":true}\n"))
            let path = "/api/v1/session"
            let login = try await dashboard.ask("POST", path, json, body: "{\"password\": \"\(password)\"}")
            #expect(status(login) == 204)
            let line = try #require(login.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie: ") })
            let cookie = "Cookie: a=b; " + line.dropFirst(12).prefix { $0 != ";" }
            #expect(try await status(dashboard.ask("GET", "/api/v1/house", cookie)) == 200)
            #expect(try await status(dashboard.ask("GET", "/api/v1/house", cookie + "0")) == 401)
            #expect(try await status(dashboard.ask("POST", path, json, body: "{\"password\": \"wrong\"}")) == 401)
            let hasty = try await dashboard.ask("POST", path, json, body: "{\"password\": \"wrong too\"}")
            #expect(status(hasty) == 429)
            #expect(hasty.lowercased().contains("retry-after: 1\r\n"))
            #expect(try await status(dashboard.ask("GET", "/api/v1/house", cookie)) == 200)
        }
    }

    @Test("A connection is closed when a request does not arrive in time", .timeLimit(.minutes(1)))
    func slowRequestsAreCut() async throws {
        let short = { (settings: inout DashboardSettings) in
            (settings.limits.request, settings.limits.idle) = (.milliseconds(500), .seconds(3600))
        }
        try await DashboardAtWork.run(short) { dashboard in
            let silent = try await dashboard.say("")
            #expect(silent == "")
            let unfinished = try await dashboard.say("GET / HTT")
            #expect(unfinished == "")
            let head = """
                POST /api/v1/plugs/Lamp/relay HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Content-Length: 9\r\n\r\n{
                """
            let cut = try await dashboard.say(head)
            #expect(cut == "")
        }
    }

    @Test("A connection is closed when no further request arrives", .timeLimit(.minutes(1)))
    func idleConnectionsAreClosed() async throws {
        let short = { (settings: inout DashboardSettings) in
            (settings.limits.request, settings.limits.idle) = (.seconds(3600), .milliseconds(500))
        }
        try await DashboardAtWork.run(short) { dashboard in
            // Returns when the server has closed the connection.
            let kept = try await status(dashboard.say("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            #expect(kept == 200)
        }
    }

    @Test("A new connection replaces a waiting one when all places are taken")
    func whoComesWhenAllPlacesAreTakenTakesThatOfOneWhoWaits() async throws {
        try await DashboardAtWork.run({ $0.limits.connections = 2 }) { dashboard in
            let ask = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let (ended, continuation) = AsyncStream.makeStream(of: Int?.self)
            for _ in 0..<6 {
                Task { continuation.yield(status(try await dashboard.say(ask))) }
            }
            // Four connections end before the idle time of a minute: waiting ones that were replaced, and those that
            // were refused.
            for await _ in ended.prefix(4) {}
            var last: Int?
            for _ in 0..<100 where last != 200 { last = try await status(dashboard.ask("GET", "/health")) }
            #expect(last == 200)
        }
    }

    @Test("A second daemon does not take the socket of a running one")
    func aSecondDaemonLeavesTheFirstAlone() async throws {
        try await DashboardAtWork.run { dashboard in
            let ask = DashboardAtWork.request("GET", "/health", [])
            let first = try await status(dashboard.sayLocally(ask))
            #expect(first == 200)
            let path = LocalSocketPath(path: dashboard.socket)
            await #expect(throws: DashboardFault.self) { try await path.clear() }
            let last = try await status(dashboard.sayLocally(ask))
            #expect(last == 200)
        }
    }

    @Test("Only one of two starting daemons gets the socket")
    func ofTwoThatBeginOneGetsThePlace() throws {
        let directory = TestFolder()
        let path = LocalSocketPath(path: directory.path + "/daemon.socket")
        let place = try path.lock()
        #expect(throws: DashboardFault.self) { try path.lock() }
        place.giveBack()
        try path.lock().giveBack()
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory.path)
        #expect(throws: DashboardFault.self) { try path.lock() }
    }

    @Test("The server survives random requests")
    func nothingThatComesEndsIt() async throws {
        var random = Fuzzing.random(0xD00A)
        try await DashboardAtWork.run({ $0.limits.request = .milliseconds(30) }) { dashboard in
            for round in FuzzRounds(2000) {
                let bytes = garbage(&random)
                _ = try? await dashboard.say(bytes)
                guard round % 100 == 0 else { continue }
                let isLiving = try await answers(dashboard)
                #expect(isLiving)
            }
            let isLiving = try await answers(dashboard)
            #expect(isLiving)
        }
    }

    /// Returns true if the server answers one of 100 requests. On a busy machine, the short time limit may also end a
    /// valid request.
    private func answers(_ dashboard: DashboardAtWork) async throws -> Bool {
        for _ in 0..<100 where try await status(dashboard.ask("GET", "/health")) == 200 { return true }
        return false
    }

    /// Bytes that resemble an HTTP request.
    private func garbage(_ random: inout SeededRandom) -> [UInt8] {
        let methods = ["GET", "POST", "HEAD", "PUT", "", "G\u{0}T", "CONNECT", "OPTIONS", "TRACE", "get"]
        let paths = [
            "/", "/health", "*", "//", "/%", "/%00", "http://evil/", "/..", "", "/api/v1/plugs/%ff/relay", "/é",
        ]
        let fields = [
            "Host: localhost", "Host:", "Host: a\u{0}b", "Content-Length: -1", "Content-Length: 5",
            "Cookie: smartplug=..",
            "Transfer-Encoding: chunked", "Transfer-Encoding: x", "Authorization: Basic ====", "Expect: 100-continue",
            "Connection: upgrade", "Upgrade: websocket", "Content-Type: application/json", ": x", "X", " folded",
            "Origin: null", "Range: bytes=0-1", "Connection: close",
        ]
        var text = (methods.randomElement(using: &random) ?? "") + " " + (paths.randomElement(using: &random) ?? "")
        text += [" HTTP/1.1", " HTTP/1.0", " HTTP/2.0", "", " HTTP/9"].randomElement(using: &random) ?? ""
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            text += "\r\n" + (fields.randomElement(using: &random) ?? "")
        }
        text += ["\r\n\r\n", "\n\n", "\r\n", ""].randomElement(using: &random) ?? ""
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
        }
        for _ in 0..<Int.random(in: 0...20, using: &random) {
            bytes.append(UInt8.random(in: .min ... .max, using: &random))
        }
        return bytes
    }
}
