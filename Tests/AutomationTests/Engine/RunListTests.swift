import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import RuleModel

@Suite struct RunListTests {
    private static func firing(_ number: UInt128) -> Firing {
        Firing(key: number, rule: "Rule", cause: Firing.Cause(.person), time: .zero)
    }

    private static let isOn = Condition.relay(plug: "Lamp", on: true)

    @Test("The deadline is the earliest end of a wait; after a removal, the next check updates it")
    func deadline() {
        var runs = RunList()
        runs.add(Self.firing(1), of: 0, next: 0, wait: .time(.at(20)))
        runs.add(Self.firing(2), of: 0, next: 0, wait: .time(.at(10)))
        #expect(runs.deadline == .at(10) && runs.count == 2 && runs.count(of: 0) == 2)
        #expect(runs.toCheck(now: .at(9)) == nil)
        #expect(runs.toCheck(now: .at(10)) == [0, 1])
        let place = runs.place(of: 1)
        #expect(place == 1)
        #expect(runs.remove(at: 1).firing.key == 2)
        runs.checked(now: .at(10))
        #expect(runs.deadline == .at(20) && runs.count(of: 0) == 1)
    }

    @Test("A run that waits for a condition is checked at each event, and its addition and removal are reported once")
    func condition() {
        var runs = RunList()
        runs.add(Self.firing(1), of: 0, next: 0, wait: .condition(Self.isOn, until: .at(60), .stop))
        #expect(runs.waiting == 1)
        #expect(runs.toCheck(now: .at(1)) == [0])
        var changes = [runs.conditionsChanged(), runs.conditionsChanged()]
        _ = runs.remove(at: 0)
        changes += [runs.conditionsChanged(), runs.conditionsChanged()]
        #expect(changes == [true, false, true, false] && runs.waiting == 0)
    }

    @Test("The first queued run of a rule is next only while no run of the rule is in progress")
    func queue() {
        var runs = RunList()
        runs.add(Self.firing(1), of: 7, next: 0, wait: .time(.at(5)))
        runs.add(Self.firing(2), of: 7, next: 0, wait: .turn)
        runs.add(Self.firing(3), of: 8, next: 0, wait: .turn)
        #expect(runs.nextInQueue(of: 7) == nil && runs.nextInQueue(of: 8) == 2)
        _ = runs.remove(at: 0)
        #expect(runs.nextInQueue(of: 7) == 0)
        #expect(runs.removeAll(of: 7).map(\.key) == [2])
        #expect(runs.count == 1)
    }

    @Test("After a change of the rules, runs of kept rules move to the new index and all others are returned")
    func replaced() {
        var runs = RunList()
        for rule in 0..<3 { runs.add(Self.firing(UInt128(rule)), of: rule, next: 0, wait: .time(.at(5))) }
        #expect(runs.replaceRules([0: 2, 2: 0]).map(\.key) == [1])
        #expect([0, 1, 2].map { runs.count(of: $0) } == [1, 0, 1] && runs[0].rule == 2 && runs[1].rule == 0)
    }
}
