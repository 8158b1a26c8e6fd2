import PlugModel
import RuleChecks
import RuleModel
import Testing

@Suite("Commands for plugs that are away")
struct AwayCommandTests {
    @Test("A rule that remembers commands is rejected if a command depends on the plug's state")
    func stateful() {
        var rule = Rule.checked(
            then: .turnOn(["A"]), .toggle(["B"]), .dimBy(["C"], permille: 100, over: .zero),
            .dim(["D"], to: DimLevel(percent: 30), over: .zero))
        #expect(found(rule) == [])
        rule.remembersAway = Duration.seconds(3600)
        #expect(
            found(rule) == [
                "error 0 then 1: 'away: remember' cannot store this action for an absent plug because it depends on the plug's state: \(rule.actions[1])",
                "error 0 then 2: 'away: remember' cannot store this action for an absent plug because it depends on the plug's state: \(rule.actions[2])",
            ])
        let findings = RuleCheck.findings([rule], in: nil, knowsSun: true)
        #expect(findings.first?.hint == "use 'turn on' or 'turn off', or delete 'away'")
    }
}
