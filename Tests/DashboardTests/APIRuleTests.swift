import PlugModel
import RuleModel
import Testing

@testable import Dashboard

@Suite struct APIRuleTests {
    private static let rules = ["Movie night", "Hall & way", "faults", "Unlucky"].map { name in
        Rule(name: name, triggers: [.button(plug: "Hall", .single)], actions: [.turnOff(["Lamp"])])
    }
    private let json = "Content-Type: application/json"

    private func status(_ answer: String) -> Int? { Int(answer.dropFirst(9).prefix(3)) }

    @Test("A rule is turned off by the API, and invalid bodies are rejected")
    func aRuleIsTurnedOffAndOn() async throws {
        try await DashboardAtWork.run(rules: Self.rules) { dashboard in
            let path = "/api/v1/rules/movie%20NIGHT/enabled"
            let off = try await dashboard.ask("POST", path, json, body: "{\"enabled\":false}")
            #expect(status(off) == 200)
            #expect(off.contains("\"enabled\":false") && off.contains("\"rule\":\"Movie night\""))
            for body in ["{}", "{\"enabled\":1}", "{\"enabled\":null}", "{\"enabled\":true,\"more\":1}", ""] {
                #expect(try await status(dashboard.ask("POST", path, json, body: body)) == 400, "\(body)")
            }
            #expect(try await status(dashboard.ask("GET", path)) == 405)
        }
    }

    @Test("A rule is fired by the API")
    func aRuleIsRunOnce() async throws {
        try await DashboardAtWork.run(rules: Self.rules) { dashboard in
            for name in ["Movie%20night", "Hall%20%26%20way", "faults"] {
                let fired = try await dashboard.ask("POST", "/api/v1/rules/\(name)/fire", json, body: "{}")
                #expect(status(fired) == 202, "\(name)")
                #expect(fired.contains("{\"id\":\"09090909090909090909090909090909\"}"))
            }
        }
    }

    @Test("A held-back firing is answered with a hint, and a setting that cannot be stored is answered with the reason")
    func whatBecameOfItIsSaid() async throws {
        try await DashboardAtWork.run(rules: Self.rules) { dashboard in
            let fired = try await dashboard.ask("POST", "/api/v1/rules/Unlucky/fire", json, body: "{}")
            #expect(status(fired) == 409 && fired.contains("\"hint\":"))
            let path = "/api/v1/rules/Unlucky/enabled"
            let off = try await dashboard.ask("POST", path, json, body: "{\"enabled\":false}")
            #expect(status(off) == 503 && off.contains("no room"))
        }
    }

    @Test("An unknown rule is answered with the most similar name")
    func aRuleThatDoesNotRunIsSaidWithTheNearest() async throws {
        try await DashboardAtWork.run(rules: Self.rules) { dashboard in
            let answer = try await dashboard.ask("POST", "/api/v1/rules/Movie%20nigt/fire", json, body: "{}")
            #expect(status(answer) == 404)
            #expect(answer.contains("did you mean \\\"Movie night\\\"?"))
            #expect(try await status(dashboard.ask("POST", "/api/v1/rules/%ff/fire", json, body: "{}")) == 400)
        }
    }

    @Test("If no rule file is faulty, the list of faults is empty")
    func filesThatCannotBeReadAreListed() async throws {
        try await DashboardAtWork.run(rules: Self.rules) { dashboard in
            let faults = try await dashboard.ask("GET", "/api/v1/rules/faults")
            #expect(status(faults) == 200 && faults.contains("\r\n\r\n[]"))
        }
    }

    @Test("Without a history, traces are unavailable, and invalid queries for them are rejected")
    func withoutAHistoryNothingIsExplained() async throws {
        try await DashboardAtWork.run(rules: Self.rules) { dashboard in
            let path = "/api/v1/rules/faults/traces"
            for (query, expected) in [("", 503), ("?limit=0", 422), ("?columns=3", 400)] {
                let answer = try await dashboard.ask("GET", path + query)
                #expect(status(answer) == expected, "\(query)")
            }
        }
    }
}
