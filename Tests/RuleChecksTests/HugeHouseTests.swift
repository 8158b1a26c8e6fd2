import PlugModel
import RuleChecks
import RuleModel
import Testing

@Suite("Rule check: rule sets that are designed to make the check slow")
struct HugeHouseTests {
    private static let cutShort = "warning 0 name: the check is incomplete"

    /// - Returns: the findings, and true if the check took less than 10 s, a generous limit for a busy machine.
    private func look(_ rules: [Rule]) -> (lines: [String], isQuick: Bool) {
        var lines: [String] = []
        let time = ContinuousClock().measure { lines = found(rules) }
        return (lines, time < .seconds(10))
    }

    private func rules(
        _ count: Int, _ triggers: (Int) -> [Trigger], if conditions: (Int) -> [Condition] = { _ in [] },
        then actions: (Int) -> [RuleAction]
    ) -> [Rule] {
        (0..<count).map {
            Rule(name: "Rule \($0)", triggers: triggers($0), conditions: conditions($0), actions: actions($0))
        }
    }

    private func opposite(_ index: Int) -> [RuleAction] {
        [index.isMultiple(of: 2) ? .turnOn(["Lamp"]) : .turnOff(["Lamp"])]
    }

    private func everyMinute(_ hours: UInt32) -> Trigger {
        .schedule(
            .cron(
                CronSchedule(
                    text: "* * * * *", minutes: .max, hours: hours, days: .max, months: .max, weekdays: .all)))
    }

    @Test("200 rules with 64 triggers each and opposite commands yield the maximum number of warnings")
    func everyMinute() {
        let (lines, isQuick) = look(
            rules(200, { _ in Array(repeating: everyMinute(.max), count: 64) }, then: opposite))
        #expect(isQuick && lines.count == RuleCheck.warningLimit + 1)
        #expect(lines.first?.contains("there are more than 500 warnings; the others are not listed") == true)
    }

    @Test("An error behind more warnings than the limit is reported first")
    func errorBehindWarnings() {
        var rules = rules(200, { _ in Array(repeating: everyMinute(.max), count: 64) }, then: opposite)
        rules.append(.checked("Last", then: .turnOn(["Nobody's"])))
        let findings = RuleCheck.findings(rules, in: [KnownPlug(name: "Lamp")], knowsSun: true)
        let errors = findings.prefix { $0.severity == .error }
        #expect(errors.contains { $0.rule == 200 && $0.word == "Nobody's" })
        #expect(findings.dropFirst(errors.count).allSatisfy { $0.severity == .warning })
        #expect(findings.count == errors.count + 1 + RuleCheck.warningLimit)
    }

    @Test("Comparing schedules that never meet stops at a limit, which is reported")
    func neverMeet() {
        let (lines, isQuick) = look(
            rules(
                200,
                { index in
                    (0..<64).map { place in
                        .schedule(
                            .cron(
                                CronSchedule(
                                    text: "\(place)", minutes: .max, hours: 1 << (index % 2), days: .max, months: .max,
                                    weekdays: .all)))
                    }
                }, then: opposite))
        #expect(isQuick && lines.first?.hasPrefix(Self.cutShort) == true)
    }

    @Test("Comparing rules with exclusive conditions stops at a limit, which is reported")
    func excluded() {
        let (lines, isQuick) = look(
            rules(
                200, { _ in Array(repeating: everyMinute(.max), count: 64) },
                if: { [.relay(plug: "Fan", on: $0.isMultiple(of: 2)), .time("00:30", "23:30")] }, then: opposite))
        #expect(isQuick && lines.first?.hasPrefix(Self.cutShort) == true)
    }

    @Test("The loop search through rules that all affect each other stops at a limit, which is reported")
    func ways() {
        let plugs = (0..<64).map { "Plug \($0)" }
        let (lines, isQuick) = look(
            rules(
                200, { _ in plugs.map { .relay(plug: $0, on: true) } },
                then: { _ in Array(repeating: RuleAction.turnOn(plugs), count: 64) }))
        #expect(isQuick && lines.first?.hasPrefix(Self.cutShort) == true)
    }

    @Test("A thousand plausible rules that share a plug are checked completely")
    func sensible() {
        let (lines, isQuick) = look(
            rules(1000, { [.button(plug: "Button \($0)", .single)] }, then: opposite))
        #expect(isQuick && lines == [])
    }
}
