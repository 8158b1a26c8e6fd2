import Automation
import Daemon
import Effects
import Foundation
import LinuxSystem
import PlugModel
import TestSupport
import Testing
import WebPush

@testable import Dashboard

@Suite struct PushTests {
    private let json = "Content-Type: application/json"
    private static let p256dh =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    private static let auth = "BTBZMqHH6r4Tts7J_aSIgg"

    private func body(_ name: String, auth: String = Self.auth) -> PushBody {
        PushBody(endpoint: "https://push.example.org/send/\(name)", p256dh: Self.p256dh, auth: auth)
    }

    private func text(_ body: PushBody) -> String {
        "{\"endpoint\": \"\(body.endpoint)\", \"p256dh\": \"\(body.p256dh)\", \"auth\": \"\(body.auth)\"}"
    }

    private func subscription(
        _ name: String, of password: String, _ role: Role = .viewer, auth: String = Self.auth
    ) -> PushSubscription {
        let pass = Authorization(role: role, session: "1a2b3c4d", password: password)
        return PushSubscription(body(name, auth: auth), device: "Firefox on Linux", of: pass)
    }

    private func status(_ answer: String) -> Int? {
        answer.hasPrefix("HTTP/1.1 ") ? Int(answer.dropFirst(9).prefix(3)) : nil
    }

    private func record<Record: Decodable>(_ answer: String, _ type: Record.Type) throws -> Record {
        let body = try #require(answer.components(separatedBy: "\r\n\r\n").last)
        return try JSONDecoder().decode(type, from: Data(body.utf8))
    }

    private func notification(_ title: String, _ text: String, rule: String = "Laundry") -> RuleNotification {
        RuleNotification(title: title, text: text, event: EffectEvent(request(.notify(title: title, text: text), rule)))
    }

    private func request(_ effect: EffectRequest.Effect, _ rule: String = "Laundry") -> EffectRequest {
        let id = RequestID(bytes: [UInt8](repeating: 9, count: 16))!
        return EffectRequest(
            id: id, effect: effect,
            firing: Firing(id: id, rule: rule, cause: Firing.Cause(.told("a test")), time: .zero))
    }

    @Test("The key is drawn once, only its owner can read it, and a damaged or exposed one is kept")
    func pushKeyIsPrivate() throws {
        let folder = TestFolder()
        let path = folder.path + "/dashboard/push-key"
        let key = try PushStore(directory: folder.path + "/dashboard").key().publicKey
        #expect(try PushStore(directory: folder.path + "/dashboard").key().publicKey == key)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(throws: FileError.self) { try PushStore(directory: folder.path + "/dashboard").key() }
        let damaged = [UInt8](repeating: 0, count: 32)
        try FileStore().replaceSecret(path, with: damaged)
        #expect(throws: FileError.self) { try PushStore(directory: folder.path + "/dashboard").key() }
        #expect(try FileStore().readSecretIfPresent(path, limit: 64) == damaged)
    }

    /// Attack class: a user fills the list, so that others get no notifications.
    @Test("The browsers of each password, of all users and of the house are limited, and owners have a reserve")
    func subscriptionsHaveSeats() throws {
        let folder = TestFolder()
        let store = PushStore(directory: folder.path)
        func count(_ password: String, _ role: Role = .viewer, tries: Int = 40) throws -> Int {
            try (0..<tries).count { try store.add(subscription("\(password)\($0)", of: password, role)) != nil }
        }
        #expect(try count("a") == 8)
        #expect(try count("b", .user) == 8)
        #expect(try count("c", .guest) == 4)
        #expect(try count("owner", .owner) == 12)
        #expect(try PushStore(directory: folder.path).subscriptions().count == 32)
        // A subscription that is stored already needs no further place, also with new keys.
        #expect(try store.add(subscription("a0", of: "a")) != nil)
        #expect(try store.add(subscription("a0", of: "a", auth: "AAAAAAAAAAAAAAAAAAAAAA")) != nil)
        #expect(try store.subscriptions().count == 32)
        let mode = try FileManager.default.attributesOfItem(
            atPath: folder.path + "/push-subscriptions.json")[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test("A repeated subscription is not written again, and replaces that of another user")
    func repetition() throws {
        let folder = TestFolder()
        let store = PushStore(directory: folder.path)
        let first = try #require(try store.add(subscription("one", of: "a")))
        #expect(try store.add(subscription("one", of: "a")) == first)
        let other = try #require(try store.add(subscription("one", of: "b")))
        #expect(try store.subscriptions() == [other] && other.id == first.id)
        #expect(other.mayReceive(["b", "session 1a2b3c4d", "c"]))
        #expect(!other.mayReceive(["b"]) && !other.mayReceive(["session 1a2b3c4d"]) && !other.mayReceive([]))
        var shown = ""
        dump(other, to: &shown)
        #expect(!"\(shown)\(other)".contains("push.example.org"))
    }

    @Test("Each user sees and ends the subscriptions of their own password, an owner all")
    func subscriptionsBelongToUsers() async throws {
        let passwords = [
            "owner": "correct horse battery", "Hallway": "just looking thanks", "Anna": "may switch the lamp",
        ]
        try await DashboardAtWork.run({ settings in
            try settings.password.set(passwords["owner"]!)
            try settings.password.set(passwords["Hallway"]!, named: "Hallway", role: .viewer)
            try settings.password.set(passwords["Anna"]!, named: "Anna", role: .user)
        }) { dashboard in
            func cookie(_ name: String) async throws -> String {
                let answer = try await dashboard.ask(
                    "POST", "/api/v1/session", json, body: "{\"password\": \"\(passwords[name]!)\"}")
                let line = try #require(
                    answer.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie: ") })
                return "Cookie: " + line.dropFirst(12).prefix { $0 != ";" }
            }
            let (owner, viewer) = (try await cookie("owner"), try await cookie("Hallway"))
            let user = try await cookie("Anna")
            let path = "/api/v1/push/subscriptions"
            let answer = try await dashboard.ask("POST", path, viewer, json, body: text(body("hallway")))
            #expect(status(answer) == 200 && !answer.contains("push.example.org"), "\(answer)")
            let id = try record(answer, PushSubscriptionRecord.self).id
            #expect(try await status(dashboard.ask("POST", path, json, body: text(body("nobody")))) == 401)
            let seen = try await dashboard.ask("GET", "/api/v1/push", viewer)
            #expect(!seen.contains("push.example.org") && !seen.contains(Self.auth))
            #expect(try record(seen, PushRecord.self).subscriptions.map(\.id) == [id])
            #expect(try await record(dashboard.ask("GET", "/api/v1/push", user), PushRecord.self).subscriptions.isEmpty)
            #expect(try await status(dashboard.ask("DELETE", "\(path)/\(id)", user)) == 404)
            #expect(
                try await record(dashboard.ask("GET", "/api/v1/push", owner), PushRecord.self).subscriptions.count == 1)
            #expect(try await status(dashboard.ask("DELETE", "\(path)/\(id)", owner)) == 204)
            #expect(try await status(dashboard.ask("DELETE", "\(path)/\(id)", owner)) == 404)

            // The end of a session ends its subscriptions.
            #expect(try await status(dashboard.ask("POST", path, viewer, json, body: text(body("hallway")))) == 200)
            #expect(try await status(dashboard.ask("POST", path, user, json, body: text(body("anna")))) == 200)
            #expect(try await status(dashboard.ask("DELETE", "/api/v1/session", viewer)) == 204)
            func remaining() async throws -> Int {
                try await record(dashboard.ask("GET", "/api/v1/push", owner), PushRecord.self).subscriptions.count
            }
            while try await remaining() != 1 { try await Task.sleep(for: .milliseconds(50)) }
            #expect(
                try await record(dashboard.ask("GET", "/api/v1/push", user), PushRecord.self).subscriptions.count == 1)
        }
    }

    /// Attack class: a user has the daemon send requests into the local network (server-side request forgery).
    @Test("A subscription with a local address or invalid keys is refused, and the answer does not repeat it")
    func localEndpointsAreRefused() async throws {
        try await DashboardAtWork.run { dashboard in
            let key = PushBody(
                endpoint: "https://push.example.org/secret", p256dh: "A" + Self.p256dh.dropFirst(), auth: "")
            let places = [
                "http://push.example.org", "https://127.0.0.1", "https://[::1]", "https://printer.local", "https://nas",
            ]
            let local = places.map { PushBody(endpoint: $0 + "/secret", p256dh: Self.p256dh, auth: Self.auth) }
            for body in local + [key] {
                let answer = try await dashboard.ask(
                    "POST", "/api/v1/push/subscriptions", json, body: text(body))
                #expect(status(answer) == 422 && !answer.contains("secret"), "\(body.endpoint): \(answer)")
            }
            #expect(try record(await dashboard.ask("GET", "/api/v1/push"), PushRecord.self).subscriptions.isEmpty)
            let other = try await dashboard.ask(
                "POST", "/api/v1/push/subscriptions", json, "Origin: https://evil.example.org", body: text(body("a")))
            #expect(status(other) == 403)
        }
    }

    @Test("A message names title, text, part of the page and id, and is shortened to its limit")
    func payload() throws {
        func read(_ notification: RuleNotification) throws -> [String: String] {
            let bytes = PushPayload(notification).bytes
            #expect(bytes.count <= PushPayload.limit)
            return try JSONDecoder().decode([String: String].self, from: Data(bytes))
        }
        let id = String(repeating: "09", count: 16)
        #expect(
            try read(notification("Tee \"für\" dich", "Fertig\nund")) == [
                "title": "Tee \"für\" dich", "body": "Fertig\nund", "path": "/#rules", "tag": id,
            ])
        #expect(try read(notification("", "Wet", rule: "Leak"))["title"] == "Leak")
        #expect(try read(notification("Budget", "80 %", rule: BudgetWatch.author))["path"] == "/#energy")
        for piece in ["a", "é", "😀", "\"", "\\", "\u{1}", "\u{9f}", "\u{85}\r\n"] {
            let long = String(repeating: piece, count: 5000)
            let message = try read(notification(long, long, rule: long))
            let body = try #require(message["body"]).unicodeScalars
            #expect(body.last == "…" && message["tag"] == id, "\(piece.unicodeScalars)")
            #expect(long.unicodeScalars.starts(with: body.dropLast()))
        }
    }

    @Test("The notifications that the page shows are the ones that browsers get")
    func source() async throws {
        let board = LiveBoard(rules: [])
        await board.note(RunnerRecord(at: .now, notice: .performing(request(.run(["true"], timeout: .seconds(1))))))
        let told = request(.notify(title: "Laundry", text: "Done"))
        await board.note(RunnerRecord(at: .now, notice: .effect(told, .done)))
        await board.note(RunnerRecord(at: .now, notice: .performing(told)))
        var notifications = board.notifications.makeAsyncIterator()
        #expect(await notifications.next()?.text == "Done")
        for number in 0..<100 {
            let request = request(.notify(title: "", text: "\(number)"))
            await board.note(RunnerRecord(at: .now, notice: .performing(request)))
        }
        // The newest 64 wait.
        #expect(await notifications.next()?.text == "36")
    }

    @Test("Own push services and contacts are checked") func settings() {
        var settings = PushSettings()
        for text in ["https://push.example.org:8443", "https://10.0.0.2/", "https://[fd00::1]:443"] {
            let isAdded = settings.add(service: text)
            #expect(isAdded, "\(text)")
        }
        #expect(
            settings.services == ["https://push.example.org:8443", "https://10.0.0.2", "https://[fd00::1]"])
        for text in ["http://push.example.org", "push.example.org", "https://a/b", "https://me@a", ""] {
            let isAdded = settings.add(service: text)
            #expect(!isAdded, "\(text)")
        }
        for text in ["mailto:me@example.org", "https://example.org/contact"] { #expect(PushSettings.isContact(text)) }
        for text in ["", "mailto:", "me@example.org", "http://example.org", "mailto:a b"] {
            #expect(!PushSettings.isContact(text), "\(text)")
        }
    }
}
