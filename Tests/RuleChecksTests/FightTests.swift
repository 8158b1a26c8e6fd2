import HouseCalendar
import PlugModel
import RuleChecks
import RuleModel
import Testing

@Suite("Rule check: conflicting commands and actions without effect")
struct FightTests {
    private func fights(_ first: Rule, _ second: Rule) -> Int {
        RuleCheck.findings([first, second], in: nil, knowsSun: true).filter { $0.message.contains("contradicts") }.count
    }

    @Test("Opposite commands at the same moment are reported at both rules, each with the other's name")
    func bothPlaces() {
        let first = Rule.checked("A", when: .button(plug: "Hall", .single), then: .wait(.zero), .turnOn(["Lamp"]))
        let second = Rule.checked("B", when: .button(plug: "hall", .single), then: .turnOff(["lamp"]))
        #expect(
            found(first, second) == [
                """
                warning 0 then 1: it contradicts "B", which does this at the same time: turn off lamp \
                (trigger: Hall: button pressed (single))
                """,
                """
                warning 1 then 0: it contradicts "A", which does this at the same time: turn on Lamp \
                (trigger: hall: button pressed (single))
                """,
            ])
    }

    @Test("Rules with different presses, plugs or times, equal commands or exclusive conditions do not conflict")
    func peace() {
        let first = Rule.checked("A", when: .button(plug: "Hall", .single), then: .turnOn(["Lamp"]))
        func other(on press: ButtonPress = .single, if conditions: [Condition] = [], _ action: RuleAction) -> Rule {
            .checked("B", when: .button(plug: "Hall", press), if: conditions, then: action)
        }
        #expect(fights(first, other(.turnOff(["Lamp"]))) == 2)
        #expect(fights(first, other(on: .double, .turnOff(["Lamp"]))) == 0)
        #expect(fights(first, other(.turnOff(["Fan"]))) == 0)
        #expect(fights(first, other(.turnOn(["Lamp"]))) == 0)
        var byDay = first
        byDay.conditions = [.time("08:00", "18:00")]
        #expect(fights(byDay, other(if: [.time("18:00", "08:00")], .turnOff(["Lamp"]))) == 0)
        #expect(fights(byDay, other(if: [.time("17:00", "08:00")], .turnOff(["Lamp"]))) == 2)
        let later = Rule.checked(
            "B", when: .button(plug: "Hall", .single), then: .wait(.seconds(60)), .turnOff(["Lamp"]))
        #expect(fights(first, later) == 0)
    }

    @Test("Opposite commands a few seconds apart, by a wait, times of day or sun times, are reported")
    func secondsApart() {
        func undone(_ first: Rule, _ second: Rule) -> [String] {
            found(first, second).filter { $0.contains("undoes it") }
        }
        let press = Trigger.button(plug: "Hall", .single)
        let first = Rule.checked("A", when: press, then: .turnOn(["Lamp"]))
        let second = Rule.checked("B", when: press, then: .wait(.seconds(1)), .turnOff(["Lamp"]))
        #expect(undone(first, second) == ["warning 0 then 0: \"B\" undoes it 1 s later: turn off Lamp"])
        #expect(undone(second, first) == ["warning 1 then 0: \"B\" undoes it 1 s later: turn off Lamp"])
        let daily = { (name: String, time: String, action: RuleAction) in
            Rule.checked(name, when: .schedule(.daily(clock(time), on: .all)), then: action)
        }
        let (on, off) = (RuleAction.turnOn(["Lamp"]), RuleAction.turnOff(["Lamp"]))
        #expect(undone(daily("A", "19:00", on), daily("B", "19:00:01", off)).count == 1)
        #expect(
            undone(daily("A", "19:00:01", on), daily("B", "19:00", off)) == [
                "warning 1 then 0: \"A\" undoes it 1 s later: turn on Lamp"
            ])
        #expect(undone(daily("A", "19:00", on), daily("B", "19:01", off)).isEmpty)
        let cron = Trigger.schedule(
            .cron(
                CronSchedule(text: "0 19 * * *", minutes: 1, hours: 1 << 19, days: .max, months: .max, weekdays: .all)))
        #expect(undone(Rule.checked("A", when: cron, then: on), daily("B", "19:00:05", off)).count == 1)
        let sun = { (name: String, offset: Int, action: RuleAction) in
            Rule.checked(name, when: .schedule(.sun(.sunset, offset: .seconds(offset), on: .all)), then: action)
        }
        #expect(
            undone(sun("A", 0, on), sun("B", 2, off)).count == 1 && undone(sun("A", 0, on), sun("B", 60, off)).isEmpty)
        // Opposite commands within one rule are intended.
        #expect(found(Rule.checked("A", when: press, then: on, .wait(.seconds(1)), off)).isEmpty)
    }

    static let coinciding: [(Trigger, Trigger)] = [
        (.rises("Television", 40), .rises("Television", 60)),
        (.relay(plug: "Television", on: nil), .relay(plug: "Television", on: true)),
        (.protection(plug: "Television", nil), .protection(plug: "Television", .overPower)),
        (
            .schedule(.daily(clock("07:30"), on: [.monday, .friday])), .schedule(.daily(clock("07:30"), on: [.friday]))
        ),
        (
            .schedule(.daily(clock("07:30"), on: .all)),
            .schedule(
                .cron(
                    CronSchedule(text: "", minutes: 1 << 30, hours: .max, days: .max, months: .max, weekdays: .all)))
        ),
        (.schedule(.sun(.sunset, offset: .zero, on: .all)), .schedule(.sun(.sunset, offset: .zero, on: .all))),
        (
            .rises("Television", 40, for: .seconds(3)),
            .activePowerStays(plug: "Television", PowerBand(50, 900, dwell: .seconds(3)))
        ),
        (.falls("Television", 20), .activePowerStays(plug: "Television", PowerBand(5, 40))),
        (.button(plug: "Hall", .single), .rule("A")),
    ]

    static let apart: [(Trigger, Trigger)] = [
        (.rises("Television", 40), .activePowerStays(plug: "Television", PowerBand(5, 40))),
        (.falls("Television", 20), .activePowerStays(plug: "Television", PowerBand(20, 900))),
        (.button(plug: "Hall", .single), .rule("C")),
        (.rises("Television", 40), .falls("Television", 20)), (.rises("Television", 40), .rises("Heater", 40)),
        (.rises("Television", 40), .rises("Television", 40, for: .seconds(60))),
        (.relay(plug: "Television", on: false), .relay(plug: "Television", on: true)),
        (.schedule(.daily(clock("07:30"), on: [.monday])), .schedule(.daily(clock("07:30"), on: [.friday]))),
        (.schedule(.sun(.sunset, offset: .zero, on: .all)), .schedule(.sun(.sunrise, offset: .zero, on: .all))),
    ]

    @Test("Rules whose triggers can match the same event conflict", arguments: 0..<coinciding.count)
    func coincide(_ index: Int) {
        let (first, second) = Self.coinciding[index]
        #expect(
            fights(
                .checked("A", when: first, then: .turnOn(["Lamp"])),
                .checked("B", when: second, then: .turnOff(["Lamp"])))
                == 2)
    }

    @Test("Rules whose triggers cannot match the same event do not conflict", arguments: 0..<apart.count)
    func areApart(_ index: Int) {
        let (first, second) = Self.apart[index]
        #expect(
            fights(
                .checked("A", when: first, then: .turnOn(["Lamp"])),
                .checked("B", when: second, then: .turnOff(["Lamp"])))
                == 0)
    }

    @Test("Opposite commands conflict if one rule follows the other's firing, also through a third rule")
    func followers() {
        let first = Rule.checked("A", when: .button(plug: "Hall", .single), then: .turnOn(["Lamp"]))
        let between = Rule.checked("Between", when: .rule("A"), .rule("Last"))
        var last = Rule.checked("Last", when: .rule("Between"), then: .turnOff(["Lamp"]))
        #expect(found(first, between, last).filter { $0.contains("contradicts") }.count == 2)
        last.conditions = [.present(plug: "Hall", false)]
        #expect(found(first, between, last).filter { $0.contains("contradicts") } == [])
    }

    @Test("A command that another rule undoes a few seconds later is reported, but not one undone after a minute")
    func undoing() {
        func turnsOn(_ watts: Double, _ seconds: Int) -> Rule {
            .checked("A", when: .rises("Television", watts, for: .seconds(seconds)), then: .turnOn(["Lamp"]))
        }
        let off = Rule.checked("B", when: .rises("Television", 40, for: .seconds(5)), then: .turnOff(["Lamp"]))
        let words = "\"B\" undoes it 2 s later if the state lasts: turn off Lamp"
        #expect(found(turnsOn(40, 3), off) == ["warning 0 then 0: \(words)"])
        #expect(found(off, turnsOn(60, 3)) == ["warning 1 then 0: \(words)"])
        #expect(found(turnsOn(30, 3), off) == [], "a rise above 30 W may stay below 40 W")
        #expect(found(turnsOn(40, 65), off) == [])
    }

    @Test("A command that the next action undoes has no effect and is reported, unless a wait separates them")
    func idle() {
        #expect(
            found(.checked(then: .turnOff(["Router"]), .turnOn(["Router"]))) == [
                "warning 0 then 0: Router is turned on right after it is turned off"
            ])
        #expect(found(.checked(then: .turnOff(["Router"]), .wait(.seconds(5)), .turnOn(["Router"]))) == [])
        #expect(
            found(.checked(then: .turnOn(["Lamp"]), .dim(["Lamp"], to: DimLevel(permille: 300)!, over: .zero))) == [])
        #expect(found(.checked(then: .toggle(["Lamp"]), .toggle(["lamp"]))).count == 1)
        #expect(found(.checked(then: .turnOn(["Lamp"]), .turnOff(["Fan"]))) == [])
    }

    @Test("A restore of a plug that no rule changes is reported")
    func restore() {
        let restore = Rule.checked("A", then: .restore(["Lamp"]))
        #expect(found(restore).map { $0.prefix(35) } == ["warning 0 then 0: no rule changes L"])
        #expect(found(restore, .checked("B", when: .lost(plug: "X", dwell: .zero), then: .turnOff(["lamp"]))) == [])
    }

    @Test("A wait for a condition that never holds is an error; a wait for one that always holds is a warning")
    func waits() {
        func wait(_ condition: Condition) -> [String] {
            found(.checked(then: .waitUntil(condition, timeout: .seconds(60), .stop))).map { String($0.prefix(16)) }
        }
        let on = Condition.relay(plug: "Lamp", on: true)
        #expect(wait(.all([on, .not(on)])) == ["error 0 then 0: "])
        #expect(wait(.any([on, .not(on)])) == ["warning 0 then 0"])
        #expect(wait(on) == [])
    }

    @Test("Repeated triggers, conditions and actions are reported, but repeated waits are not")
    func repetitions() {
        let press = Trigger.button(plug: "Hall", .single)
        #expect(found(.checked(when: press, press)).count == 1)
        #expect(found(.checked(when: press, .button(plug: "Hall", .double))) == [])
        #expect(found(.checked(if: [.weekdays(.monday), .weekdays(.monday)])).count == 1)
        #expect(found(.checked(then: .turnOn(["Lamp"]), .turnOn(["Lamp"]))).count == 1)
        #expect(found(.checked(then: .turnOn(["Lamp", "lamp"]))).count == 1)
        #expect(found(.checked(then: .turnOn(["Lamp"]), .wait(.seconds(1)), .wait(.seconds(1)))) == [])
    }
}
