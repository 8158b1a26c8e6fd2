import Automation
import Daemon
import DurableRules
import Effects
import Foundation
import PlugModel
import ProtocolCore
import RuleEditing
import RuleFiles
import RuleModel
import TestSupport
import Testing

@testable import Dashboard

@Suite struct RuleFileRouteTests {
    private static let lamp = "- rule: Night\n  when: { time: \"23:00\" }\n  then:\n    - turn off: Lamp\n"
    private let json = "Content-Type: application/json"
    private let folder = TestFolder()

    private struct Listed: Decodable {
        struct File: Decodable {
            var file: String
            var editable: Bool
        }
        var editing: Bool
        var files: [File]
    }
    private struct Text: Decodable {
        var text: String
        var version: String
    }
    private struct Faulty: Decodable {
        struct Finding: Decodable {
            var line: Int
            var severity: String
        }
        var error: String
        var findings: [Finding]?
    }

    private func editor(mayEdit: Bool) -> RuleEditor {
        let directory = RulesDirectory([folder.path]) { path in
            guard let text = try? String(contentsOfFile: path, encoding: .utf8),
                let file = try? RuleFile(name: path, text: text)
            else { return .broken("not valid") }
            return .rules(file.rules)
        }
        return RuleEditor(directory, mayEdit: mayEdit, policy: EffectPolicy(), daylight: nil)
    }

    private func body(_ fields: [String: Any]) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: fields), as: UTF8.self)
    }

    private func status(_ answer: String) -> Int? { Int(answer.dropFirst(9).prefix(3)) }

    private func read<Answer: Decodable>(_ type: Answer.Type, _ answer: String) throws -> Answer {
        let start = try #require(answer.firstRange(of: "\r\n\r\n")).upperBound
        return try JSONDecoder().decode(Answer.self, from: Data(answer[start...].utf8))
    }

    @Test("An owner creates, reads, changes and removes a rule file")
    func life() async throws {
        try await DashboardAtWork.run(editor: editor(mayEdit: true)) { dashboard in
            let new = try body(["file": "night.yaml", "text": Self.lamp])
            let made = try await dashboard.ask("POST", "/api/v1/rule-files", json, body: new)
            #expect(status(made) == 201)
            #expect(try await status(dashboard.ask("POST", "/api/v1/rule-files", json, body: new)) == 409)
            let list = try read(Listed.self, try await dashboard.ask("GET", "/api/v1/rule-files"))
            #expect(list.editing && list.files.map(\.file) == ["night.yaml"] && list.files[0].editable)
            let path = "/api/v1/rule-files/night.yaml"
            let text = try read(Text.self, try await dashboard.ask("GET", path))
            #expect(text.text == Self.lamp)
            let change = try body(["text": "# new\n" + Self.lamp, "version": text.version])
            let changed = try await dashboard.ask("POST", path, json, body: change)
            #expect(status(changed) == 200)
            // The version is now an old one.
            #expect(try await status(dashboard.ask("POST", path, json, body: change)) == 409)
            #expect(try await status(dashboard.ask("DELETE", path + "?version=\(text.version)")) == 409)
            let version = try read(Text.self, changed).version
            #expect(try await status(dashboard.ask("DELETE", path)) == 400)
            #expect(try await status(dashboard.ask("DELETE", path + "?version=\(version)")) == 204)
            #expect(try await status(dashboard.ask("GET", path)) == 404)
        }
    }

    @Test("A text with errors is answered with the findings, and is not stored")
    func faultyText() async throws {
        try await DashboardAtWork.run(editor: editor(mayEdit: true)) { dashboard in
            let text = Self.lamp + "    - run: [/bin/ring]\n"
            let new = try body(["file": "night.yaml", "text": text])
            let refused = try await dashboard.ask("POST", "/api/v1/rule-files", json, body: new)
            #expect(status(refused) == 422)
            let findings = try #require(try read(Faulty.self, refused).findings)
            #expect(findings.contains { $0.line == 5 && $0.severity == "error" })
            let check = try await dashboard.ask("POST", "/api/v1/rule-checks", json, body: new)
            #expect(status(check) == 200 && check.contains("\"line\":5"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    /// Attack class: a door that the owner did not open.
    @Test("Without permission files are read and checked, but each change is refused with a hint")
    func off() async throws {
        try Data(Self.lamp.utf8).write(to: URL(filePath: folder.path + "/night.yaml"))
        try await DashboardAtWork.run(editor: editor(mayEdit: false)) { dashboard in
            let list = try read(Listed.self, try await dashboard.ask("GET", "/api/v1/rule-files"))
            #expect(!list.editing && list.files.count == 1 && !list.files[0].editable)
            let path = "/api/v1/rule-files/night.yaml"
            let version = try read(Text.self, try await dashboard.ask("GET", path)).version
            let change = try body(["text": "", "version": version])
            for answer in [
                try await dashboard.ask("POST", path, json, body: change),
                try await dashboard.ask(
                    "POST", "/api/v1/rule-files", json, body: try body(["file": "a.yaml", "text": Self.lamp])),
                try await dashboard.ask("DELETE", path + "?version=\(version)"),
            ] { #expect(status(answer) == 403 && answer.contains("--edit-rules")) }
            let check = try body(["file": "night.yaml", "text": Self.lamp])
            #expect(try await status(dashboard.ask("POST", "/api/v1/rule-checks", json, body: check)) == 200)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["night.yaml"])
        }
    }

    @Test("Wrong names, bodies and versions are rejected, and only owners send long bodies")
    func wrongRequests() async throws {
        try await DashboardAtWork.run(editor: editor(mayEdit: true)) { dashboard in
            let files = "/api/v1/rule-files"
            for (body, expected) in [
                ("{}", 400), ("{\"file\":\"a.yaml\"}", 400), ("{\"file\":\"../a.yaml\",\"text\":\"\"}", 422),
                ("{\"file\":\"a.yaml\",\"text\":\"\",\"path\":\"/etc\"}", 400), ("[]", 400),
            ] { #expect(try await status(dashboard.ask("POST", files, json, body: body)) == expected, "\(body)") }
            #expect(try await status(dashboard.ask("GET", files + "/%2e%2e%2fpasswd")) == 404)
            #expect(try await status(dashboard.ask("GET", files + "/%ff")) == 400)
            let long = try body(["file": "a.yaml", "text": String(repeating: "#", count: RuleEditor.textLimit + 1)])
            #expect(try await status(dashboard.ask("POST", files, json, body: long)) == 422)
            let longer = try body(["file": "a.yaml", "text": String(repeating: "#", count: 262_144)])
            #expect(try await status(dashboard.ask("POST", files, json, body: longer)) == 413)
            for days in ["0", "32", "1.5", "1e308", "-1"] {
                let body = "{\"text\":\"\",\"days\":\(days)}"
                #expect(try await status(dashboard.ask("POST", "/api/v1/rule-backtests", json, body: body)) == 422)
            }
            let backtest = "{\"text\":\"\",\"days\":7}"
            #expect(try await status(dashboard.ask("POST", "/api/v1/rule-backtests", json, body: backtest)) == 503)
        }
    }

    @Test("The log of a script has its newest lines and failures, and ends with the script")
    func scriptLog() async throws {
        let handler = ScriptHandler(script: "bell.lua", index: 1)
        let rule = Rule(name: "bell.lua:1", triggers: [.button(plug: "Hall", .single)], actions: [.call(handler)])
        var board = RuleBoard([rule])
        let firing = Firing(
            id: RequestID(bytes: [UInt8](repeating: 9, count: 16))!, rule: "bell.lua:1",
            cause: Firing.Cause(.trigger(.button(plug: "Hall", .single)), plug: "Hall", event: 7), time: .zero)
        for number in 0..<(ScriptLogs.limit + 5) {
            _ = board.note(RunnerRecord(at: moment, notice: .scriptLogged(firing, ["line \(number)"])))
        }
        _ = board.note(
            RunnerRecord(at: moment, notice: .scriptEnded(script: "bell.lua", why: "killed", restartsIn: nil)))
        let lines = board.logs.lines(of: "bell.lua")
        #expect(lines.count == ScriptLogs.limit && lines.first?.text == "line 6")
        #expect(lines.last?.kind == "fault" && lines.last?.text == "the script ended: killed")
        _ = board.replace([], disabled: [], faults: [])
        #expect(board.logs.lines(of: "bell.lua").isEmpty)
    }
}
