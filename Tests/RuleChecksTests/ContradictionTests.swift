import HouseCalendar
import PlugModel
import RuleChecks
import RuleModel
import Testing

@Suite("Rule check: conditions that never or always hold")
struct ContradictionTests {
    private static let on = Condition.relay(plug: "Lamp", on: true)
    private static let off = Condition.relay(plug: "lamp", on: false)
    private static let above = Condition.activePower(plug: "Lamp", .above(40))
    private static let below = Condition.activePower(plug: "Lamp", .below(40))
    private static let brighter = Condition.level(plug: "Lamp", .above(DimLevel(permille: 500)!))
    private static let darker = Condition.level(plug: "Lamp", .below(DimLevel(permille: 501)!))
    private static let weekend = Condition.weekdays([.saturday, .sunday])

    static let exclusive: [(Condition, Condition)] = [
        (on, off), (on, .not(on)), (above, below), (.time("08:00", "10:00"), .time("17:00", "02:00")),
        (weekend, .weekdays([.monday, .friday])), (on, .present(plug: "Lamp", false)),
        (above, .present(plug: "Lamp", false)), (weekend, .not(weekend)),
        (.any([on, above]), .all([off, below])),
        (
            .level(plug: "Lamp", .above(DimLevel(permille: 500)!)),
            .level(plug: "Lamp", .below(DimLevel(permille: 400)!))
        ),
    ]

    static let compatible: [(Condition, Condition)] = [
        (on, .relay(plug: "Fan", on: false)), (above, .activePower(plug: "Lamp", .below(41))),
        (.time("08:00", "18:00"), .time("17:00", "02:00")), (weekend, .weekdays([.sunday])),
        (.not(on), .present(plug: "Lamp", false)), (.not(on), .not(off)), (on, .not(above)),
        (.any([on, above]), .all([off])), (weekend, .time("23:00", "24:00")), (brighter, darker),
    ]

    @Test("Two exclusive conditions are reported at the second one", arguments: 0..<exclusive.count)
    func exclude(_ index: Int) {
        let (first, second) = Self.exclusive[index]
        let findings = RuleCheck.findings([.checked(if: [first, second])], in: nil, knowsSun: true)
        #expect(findings.map(\.part) == [.condition(1)] && findings.first?.severity == .error)
        let alone = RuleCheck.findings([.checked(if: [.all([first, second])])], in: nil, knowsSun: true)
        #expect(alone.map(\.part) == [.condition(0)] && alone.first?.message.hasPrefix("this can never hold") == true)
        #expect(found(.checked(if: [.any([first, second])])).filter { $0.hasPrefix("error") } == [])
    }

    @Test("Compatible conditions are not reported", arguments: 0..<compatible.count)
    func agree(_ index: Int) {
        let (first, second) = Self.compatible[index]
        #expect(found(.checked(if: [first, second])) == [])
    }

    @Test("A condition that can never hold is an error, and a condition that always holds is a warning")
    func alone() {
        #expect(found(.checked(if: [.activePower(plug: "Lamp", .above(5000))])).map { $0.prefix(10) } == ["error 0 if"])
        for certain in [
            Condition.time("00:00", "24:00"), .weekdays(.all), .any([Self.on, Self.off]),
            .any([Self.weekend, .not(Self.weekend)]),
        ] {
            #expect(found(.checked(if: [certain])).map { $0.prefix(12) } == ["warning 0 if"], "\(certain)")
        }
        #expect(found(.checked(if: [.time("00:00", "23:00")])) == [])
    }

    @Test("Three conditions that contradict only together are reported at the third")
    func three() {
        let conditions = [
            Condition.any([Self.on, Self.weekend]), .relay(plug: "Lamp", on: false), .weekdays([.monday, .tuesday]),
        ]
        #expect(found(.checked(if: conditions)).map { $0.prefix(12) } == ["error 0 if 2"])
        #expect(found(.checked(if: Array(conditions.prefix(2)))) == [])
    }

    static let hopeless: [(Trigger, Condition)] = [
        (.relay(plug: "Lamp", on: true), off), (.rises("Lamp", 50), below), (.falls("Lamp", 40), above),
        (.schedule(.daily(clock("07:30"), on: .all)), .time("08:00", "10:00")),
        (.schedule(.daily(clock("07:30"), on: [.monday])), weekend), (.lost(plug: "Lamp", dwell: .zero), on),
        (.lost(plug: "Lamp", dwell: .zero), .present(plug: "Lamp", true)),
        (.back(plug: "Lamp", dwell: .zero), .present(plug: "Lamp", false)),
        (.schedule(.sun(.sunset, offset: .zero, on: [.monday])), weekend),
        (
            .schedule(
                .cron(CronSchedule(text: "", minutes: 1, hours: 1 << 9, days: .max, months: .max, weekdays: .all))),
            .time("09:01", "10:00")
        ),
    ]

    @Test("A trigger whose event excludes a condition is reported", arguments: 0..<hopeless.count)
    func neverFires(_ index: Int) {
        let (trigger, condition) = Self.hopeless[index]
        #expect(found(.checked(when: trigger, if: [condition])).map { $0.prefix(14) } == ["error 0 when 0"])
        #expect(found(.checked(when: trigger, if: [.not(condition)])).filter { $0.hasPrefix("error") } == [])
    }

    @Test("A trigger that accepts old events does not exclude a condition, because the state may have changed since")
    func late() {
        var rule = Rule.checked(when: .relay(plug: "Lamp", on: true), if: [Self.off])
        rule.maximumAge = .seconds(3600)
        #expect(found(rule) == [])
    }

    @Test("A check of hundreds of alternatives ends within a minute, with one finding at most", .timeLimit(.minutes(1)))
    func bounded() {
        let choices = (0..<30).map { index in
            Condition.any((0..<8).map { .relay(plug: "\(index) \($0)", on: true) })
        }
        #expect(found(.checked(if: choices + [Self.on, Self.off])).count <= 1)
    }
}
