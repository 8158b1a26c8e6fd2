import Foundation
import HTTPTypes
import LinuxSystem
import PlugModel
import TestSupport
import Testing

@testable import Dashboard

@Suite struct DoorRoleTests {
    private let owners = "correct horse battery", viewers = "just looking thanks", users = "may switch the lamp"

    private func status(_ answer: String) -> Int? {
        answer.hasPrefix("HTTP/1.1 ") ? Int(answer.dropFirst(9).prefix(3)) : nil
    }

    private func withPasswords(_ body: (DashboardAtWork) async throws -> Void) async throws {
        let change = { (settings: inout DashboardSettings) in
            try settings.password.set(owners)
            try settings.password.set(viewers, named: "Hallway", role: .viewer)
            try settings.password.set(users, named: "Anna", role: .user)
            try settings.password.set("the time is over", named: "Visitor", role: .guest, until: 1_000_000_000)
        }
        try await DashboardAtWork.run(change, body)
    }

    /// - Returns: the Cookie header field.
    private func logIn(_ dashboard: DashboardAtWork, _ password: String) async throws -> String {
        let answer = try await dashboard.ask(
            "POST", "/api/v1/session", "Content-Type: application/json", "User-Agent: curl/8.5.0",
            body: "{\"password\": \"\(password)\"}")
        #expect(status(answer) == 204)
        let line = try #require(answer.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie: ") })
        return "Cookie: " + line.dropFirst(12).prefix { $0 != ";" }
    }

    private func bodies<Record: Decodable>(_ answer: String, _ type: Record.Type) throws -> Record {
        let body = try #require(answer.components(separatedBy: "\r\n\r\n").last)
        return try JSONDecoder().decode(type, from: Data(body.utf8))
    }

    private struct Told: Decodable {
        var id: String
        var name: String
        var role: String
        var device: String
        var address: String
        var isAsker: Bool

        private enum CodingKeys: String, CodingKey {
            case id, name, role, device, address
            case isAsker = "self"
        }
    }

    /// Requests the routes of the table as owner, user and viewer. A route refuses exactly the roles that the table
    /// does not list for it, with a reason.
    @Test("An owner, a user and a viewer may use exactly their routes of the access table")
    func eachRoleMayWhatTheTableSays() async throws {
        try await withPasswords { dashboard in
            for (role, password) in [(Role.owner, owners), (.user, users), (.viewer, viewers)] {
                let cookie = try await logIn(dashboard, password)
                // Two routes are left out: the response of the stream does not end, and the end of all sessions would
                // end the session of the following requests.
                for row in AccessTable.rows.filter({ $0.roles != nil && $0.path != "/api/v1/stream" }) {
                    let path = row.path.replacing("{plug}", with: "Lamp").replacing("{rule}", with: "Hall")
                        .replacing("{house}", with: "elm-5").replacing("{machine}", with: "Server")
                        .replacing("{session}", with: "00000000")
                        .replacing("{subscription}", with: "0000000000000000")
                    guard "\(row.method) \(path)" != "DELETE /api/v1/sessions" else { continue }
                    let body = row.method == .post ? "{}" : nil
                    let answer = try await dashboard.ask(
                        row.method.rawValue, path, cookie, "Content-Type: application/json", body: body)
                    let isRefused = row.roles?.contains(role) == false
                    let head = row.method == .get ? try await status(dashboard.ask("HEAD", path, cookie)) : nil
                    #expect(head == nil || (head == 403) == isRefused, "\(role) HEAD \(path)")
                    #expect((status(answer) == 403) == isRefused, "\(role) \(row.method) \(path): \(answer)")
                    #expect(status(answer) != 401, "\(role) \(row.method) \(path)")
                    guard isRefused else { continue }
                    #expect(
                        answer.contains("\(role.described) may not \(row.deed); an owner of the dashboard may allow it")
                    )
                }
            }
        }
    }

    @Test("Basic authorization has the role of its password")
    func aViewersScriptIsAViewerToo() async throws {
        try await withPasswords { dashboard in
            let basic = "Authorization: Basic \(Data("me:\(viewers)".utf8).base64EncodedString())"
            let json = "Content-Type: application/json"
            #expect(try await status(dashboard.ask("GET", "/api/v1/house", basic)) == 200)
            let refused = try await dashboard.ask(
                "POST", "/api/v1/plugs/Lamp/relay", basic, json, body: "{\"on\": true}")
            #expect(status(refused) == 403)
            #expect(refused.contains("a viewer may not turn plugs on or off; an owner of the dashboard may allow it"))
            let ended = "Authorization: Basic \(Data("me:the time is over".utf8).base64EncodedString())"
            #expect(try await status(dashboard.ask("GET", "/api/v1/house", ended)) == 401)
            let session = try await dashboard.ask("GET", "/api/v1/session", try await logIn(dashboard, viewers))
            #expect(session.contains("\"name\":\"Hallway\"") && session.contains("\"role\":\"viewer\""))
        }
    }

    @Test("Every client at the local socket is an owner")
    func atTheLocalSocketEverybodyIsTheOwner() async throws {
        try await withPasswords { dashboard in
            let sessions = try await dashboard.sayLocally(DashboardAtWork.request("GET", "/api/v1/sessions", []))
            #expect(status(sessions) == 200)
            let session = try await dashboard.sayLocally(DashboardAtWork.request("GET", "/api/v1/session", []))
            #expect(session.contains("\"role\":\"owner\""))
        }
    }

    /// Attack class: a copied cookie. Logging out must invalidate it at the server, not only in the browser.
    @Test("Logging out invalidates copies of the cookie")
    func loggingOutEndsTheCookieForEverybody() async throws {
        try await withPasswords { dashboard in
            let (mine, other) = (try await logIn(dashboard, owners), try await logIn(dashboard, owners))
            #expect(try await status(dashboard.ask("GET", "/api/v1/house", mine)) == 200)
            #expect(try await status(dashboard.ask("DELETE", "/api/v1/session", mine)) == 204)
            #expect(try await status(dashboard.ask("GET", "/api/v1/house", mine)) == 401)
            #expect(try await status(dashboard.ask("GET", "/api/v1/house", other)) == 200)
            // A logout without a session ends no other session.
            #expect(try await status(dashboard.ask("DELETE", "/api/v1/session")) == 204)
            #expect(try await status(dashboard.ask("GET", "/api/v1/house", other)) == 200)
        }
    }

    @Test("Sessions are listed and can be ended")
    func sessionsAreListedAndEnded() async throws {
        try await withPasswords { dashboard in
            let owner = try await logIn(dashboard, owners)
            let stolen = try await logIn(dashboard, viewers)
            let list = try await dashboard.ask("GET", "/api/v1/sessions", owner)
            let told = try bodies(list, [Told].self)
            #expect(told.map(\.name) == ["owner", "Hallway"] && told.map(\.role) == ["owner", "viewer"])
            #expect(told.map(\.isAsker) == [true, false] && told.map(\.device) == ["curl", "curl"])
            #expect(told.allSatisfy { $0.address == "127.0.0.1" })
            for cookie in [owner, stolen] { #expect(!list.contains(cookie.dropFirst("Cookie: smartplug=".count))) }
            let id = try #require(told.last?.id)
            // The listed id is not a secret and cannot be used as a cookie.
            #expect(try await status(dashboard.ask("GET", "/api/v1/house", "Cookie: smartplug=\(id)")) == 401)
            #expect(try await status(dashboard.ask("DELETE", "/api/v1/sessions/\(id)", stolen)) == 403)
            #expect(try await status(dashboard.ask("DELETE", "/api/v1/sessions/\(id)", owner)) == 200)
            #expect(try await status(dashboard.ask("DELETE", "/api/v1/sessions/\(id)", owner)) == 404)
            #expect(try await status(dashboard.ask("GET", "/api/v1/house", stolen)) == 401)
            let all = DashboardAtWork.request("DELETE", "/api/v1/sessions", [])
            #expect(try await bodies(dashboard.sayLocally(all), [Told].self).map(\.name) == ["owner"])
            #expect(try await status(dashboard.ask("GET", "/api/v1/house", owner)) == 401)
        }
    }

    /// Attack class: a stream continues after the login that opened it has ended.
    @Test("The stream of an ended session ends")
    func anEndedSessionsStreamEnds() async throws {
        try await withPasswords { dashboard in
            let viewer = try await logIn(dashboard, viewers)
            async let stream = dashboard.say(
                "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\(viewer)\r\n\r\n")
            for _ in 0..<1000 where await dashboard.board.readers.count == 0 {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(await dashboard.board.readers.count == 1)
            let all = DashboardAtWork.request("DELETE", "/api/v1/sessions", [])
            #expect(try await status(dashboard.sayLocally(all)) == 200)
            // This wait ends only because the end of the session ends the stream.
            #expect(try await stream.contains("event: house"))
        }
    }

    @Test("A guest's session ends when its password expires")
    func aGuestsSessionEndsWithItsTime() async throws {
        let directory = TestFolder()
        let file = PasswordFile(directory.path + "/password")
        try file.set(owners)
        try file.set("two days in the house", named: "Visitor", role: .guest, until: 4_000_000_000)
        func login() -> Login {
            Login(
                keeper: PasswordKeeper(file), sessions: SessionKeeper(directory.path + "/sessions"),
                secret: Array(0..<32))
        }
        let before = login()
        let cookies = try await before.begin("two days in the house", [:], from: nil, isLoopback: true)
        let headers: HTTPFields = [.cookie: "smartplug=\(cookies.session)"]
        #expect(try await before.pass(of: headers, from: nil, isLoopback: true).role == .guest)
        #expect(await before.current.map(\.password.name) == ["Visitor"])
        let entrances = await before.entrances(isLoopback: true)
        // Two days later: the password has expired.
        let text = try String(contentsOfFile: file.path, encoding: .utf8)
        try FileStore().replaceSecret(file.path, with: Array(text.replacing("4000000000", with: "1000000000").utf8))
        let after = login()
        #expect(await after.current.isEmpty)
        await #expect(throws: Refused.self) { try await after.pass(of: headers, from: nil, isLoopback: true) }
        await #expect(throws: Refused.self) {
            try await after.begin("two days in the house", [:], from: nil, isLoopback: true)
        }
        #expect(
            await !after.entrances(isLoopback: true).isSuperset(of: entrances),
            "the expired password must not give access")
        try file.set("looking", named: "Hallway", role: .viewer)
        #expect(try file.passwords().map(\.name) == ["owner", "Hallway"], "the expired password is removed")
        for one in [before, after] { await one.keeper.stop() }
    }

    @Test("A session survives a restart of the daemon, but not a change of its password")
    func aSessionOutlivesTheDaemonAndNotItsPassword() async throws {
        try await withPasswords { dashboard in
            let path = dashboard.directory.path + "/dashboard/sessions"
            let cookie = try await logIn(dashboard, viewers)
            let value = String(cookie.dropFirst("Cookie: smartplug=".count))
            #expect(try String(contentsOfFile: path, encoding: .utf8).contains(value) == false)
            let file = PasswordFile(dashboard.directory.path + "/password")
            // The next daemon reads the same files.
            let login = Login(keeper: PasswordKeeper(file), sessions: SessionKeeper(path), secret: Array(0..<32))
            let pass = try await login.pass(of: [.cookie: "smartplug=\(value)"], from: nil, isLoopback: true)
            #expect(pass.role == .viewer && pass.name == "Hallway")
            try file.set("looking once more", named: "Hallway", role: .viewer)
            let later = Login(keeper: PasswordKeeper(file), sessions: SessionKeeper(path), secret: Array(0..<32))
            await #expect(throws: Refused.self) {
                try await later.pass(of: [.cookie: "smartplug=\(value)"], from: nil, isLoopback: true)
            }
            #expect(
                await later.entrances(isLoopback: true).count == 3, "each of the three passwords must give access")
            for one in [login, later] { await one.keeper.stop() }
        }
    }
}
