import Automation
import Daemon
import DurableRules
import Foundation
import NIOCore
import PlugClient
import PlugModel
import PowerHistory
import Presentation
import ProtocolCore
import RuleModel
import Testing

@testable import Dashboard

/// Attack class: secrets in rules. Program arguments may contain tokens and paths, and script logs may contain
/// anything, so only owners receive them.
@Suite struct RoleContentTests {
    private static let secret = "s3cret"
    private let rules = [
        Rule(
            name: "Bell", triggers: [.button(plug: "Hall", .single)],
            actions: [.run(["/bin/ring", secret], timeout: .seconds(5)), .turnOff(["Lamp"])])
    ]
    private let firing = Firing(
        id: RequestID(bytes: [UInt8](repeating: 9, count: 16))!, rule: "Bell",
        cause: Firing.Cause(.trigger(.button(plug: "Hall", .single)), plug: "Hall", event: 7), time: .zero)
    private var request: EffectRequest {
        EffectRequest(id: firing.id, effect: .run(["/bin/ring", Self.secret], timeout: .seconds(5)), firing: firing)
    }
    private var notices: [RuleNotice] {
        [
            .performing(request), .effect(request, .failed(Self.secret)), .scriptLogged(firing, [Self.secret]),
            .scriptEnded(script: "Bell", why: Self.secret, restartsIn: nil),
            .fileBroken(path: "house.yaml", words: Self.secret),
        ]
    }
    private var fault: RuleFileFault {
        RuleFileFault(path: "house.yaml", words: "line 3: run /bin/ring \(Self.secret)", rules: ["Bell"])
    }

    private func text(_ delivery: LiveBoard.Delivery) -> String {
        guard case .messages(let messages) = delivery else { return "" }
        return messages.map { String(buffer: $0) }.joined()
    }

    @Test("A viewer's stream has no program arguments and no script logs; an owner's stream has both")
    func stream() async throws {
        let board = LiveBoard(rules: rules, paired: PairedPlugs(directory: "/nowhere/at/all"))
        let owner = try #require(await board.open(after: nil, for: Authorization(role: .owner, password: "o")) {})
        var others: [UInt64] = []
        for role in [Role.viewer, .user, .guest] {
            others.append(
                try #require(await board.open(after: nil, for: Authorization(role: role, password: role.rawValue)) {}))
        }
        #expect(text(await board.next(owner)).contains(Self.secret))
        for reader in others {
            let house = text(await board.next(reader))
            #expect(house.contains("run a program") && !house.contains(Self.secret))
        }
        await board.rulesChanged(rules, disabled: [], faults: [fault])
        for notice in notices { await board.note(RunnerRecord(at: moment, notice: notice)) }
        await board.handle(.found("Lamp"))
        let whole = text(await board.next(owner))
        #expect(whole.contains("\"event\":\"scriptLog\"") && whole.contains("ring \(Self.secret)"))
        for reader in others {
            let part = text(await board.next(reader))
            #expect(!part.contains(Self.secret) && !part.contains("scriptLog"))
            #expect(part.contains("\"event\":\"performing\"") && part.contains("run a program"))
        }
        // A message that only owners may read wakes the other readers, but they receive no content.
        await board.note(RunnerRecord(at: moment, notice: .scriptLogged(firing, [Self.secret])))
        let reader = others[0]
        async let next = board.next(reader)
        await board.note(RunnerRecord(at: moment, notice: .ruleEnabled("Bell", false)))
        #expect(text(await next).contains("ruleEnabled"))
    }

    @Test("A viewer's trace of a firing has no program arguments and no script logs")
    func traces() throws {
        var trace = RuleTrace(id: "09", rule: "Bell", at: 1000, outcome: .fired, cause: "Hall: button pressed")
        trace.steps = [
            RuleTrace.Step(at: 1001, what: "run /bin/ring \(Self.secret)", id: "01"),
            RuleTrace.Step(at: 1002, what: "log: \(Self.secret)"),
            RuleTrace.Step(at: 1003, what: "turn off Lamp", id: "02", plug: "Lamp"),
        ]
        trace.steps[0].outcome = "failed: \(Self.secret)"
        trace.steps[2].outcome = "done"
        let told = try #require(StoredTrace(trace).forOthers)
        #expect(!told.json.contains(Self.secret))
        #expect(RuleTrace(told)?.steps.map(\.what) == ["run a program", "turn off Lamp"])
        #expect(RuleTrace(told)?.steps.last == trace.steps[2])
        #expect(StoredTrace(id: "09", at: 0, rule: "Bell", isFiring: true, json: "{}").forOthers == nil)
    }

    @Test("Every route returns rules to a viewer without program arguments")
    func routes() async throws {
        let (owners, viewers) = ("correct horse battery", "just looking thanks")
        let change = { (settings: inout DashboardSettings) in
            try settings.password.set(owners)
            try settings.password.set(viewers, named: "Hallway", role: .viewer)
        }
        try await DashboardAtWork.run(change, rules: rules) { dashboard in
            await dashboard.board.rulesChanged(rules, disabled: [], faults: [fault])
            for row in AccessTable.rows where row.method == .get && row.roles?.contains(.viewer) == true {
                guard row.path != "/api/v1/stream" else { continue }
                let path = row.path.replacing("{plug}", with: "Lamp").replacing("{rule}", with: "Bell")
                let answer = try await dashboard.ask("GET", path, basic(viewers))
                #expect(answer.hasPrefix("HTTP/1.1 ") && !answer.contains(Self.secret), "\(path)")
            }
            for path in ["/api/v1/house", "/api/v1/rules", "/api/v1/rules/faults"] {
                #expect(try await dashboard.ask("GET", path, basic(owners)).contains(Self.secret), "\(path)")
                let local = DashboardAtWork.request("GET", path, [])
                #expect(try await dashboard.sayLocally(local).contains(Self.secret), "\(path)")
            }
        }
    }

    private func basic(_ password: String) -> String {
        "Authorization: Basic \(Data("me:\(password)".utf8).base64EncodedString())"
    }
}
