import PlugModel
import RuleFiles
import RuleModel
import Testing

@Suite("All triggers, conditions, actions and settings become data")
struct WholeGrammarTests {
    private func rule(_ text: String) throws -> Rule { try #require(try RuleFile(name: "f", text: text).rules.first) }

    private func trigger(_ text: String) throws -> Trigger {
        try rule("- { rule: A, when: \(text), then: { toggle: A } }").triggers[0]
    }

    private func action(_ text: String) throws -> RuleAction {
        try rule("- { rule: A, when: { rule: B }, then: \(text) }").actions[0]
    }

    private func conditions(_ text: String) throws -> [Condition] {
        try rule("- { rule: A, when: { rule: B }, if: \(text), then: { toggle: A } }").conditions
    }

    @Test("Triggers of plugs are parsed") func triggersOfPlugs() throws {
        #expect(
            try trigger("{ plug: P, active power: { stays between: [5W, 1.5kW], for: 2 d, hysteresis: 1 W } }")
                == .activePowerStays(plug: "P", PowerBand(5, 1500, dwell: .seconds(172_800), hysteresis: 1)))
        #expect(
            try trigger("{ plug: P, active energy: { exceeds: 500 Wh, since: week } }")
                == .activeEnergy(plug: "P", EnergyThreshold(500, since: .week)))
        #expect(
            try trigger("{ plug: P, active energy: { exceeds: 2kWh, since: on } }")
                == .activeEnergy(plug: "P", EnergyThreshold(2000, since: .on)))
        #expect(try trigger("{ plug: P, relay: changed }") == .relay(plug: "P", on: nil))
        #expect(try trigger("{ plug: P, relay: off }") == .relay(plug: "P", on: false))
        #expect(try trigger("{ plug: P, connection: lost, for: 2 min }") == .lost(plug: "P", dwell: .seconds(120)))
        #expect(try trigger("{ plug: P, connection: back }") == .back(plug: "P", dwell: .zero))
        #expect(try trigger("{ plug: P, protection: tripped }") == .protection(plug: "P", nil))
        #expect(try trigger("{ plug: P, protection: overPower }") == .protection(plug: "P", .overPower))
        #expect(try trigger("{ plug: P, appliance: finished }") == .appliance(plug: "P", .finished(nil)))
        #expect(
            try trigger("{ plug: P, appliance: probably finished, cycle: programme }")
                == .appliance(plug: "P", .probablyFinished(.programme)))
        #expect(
            try trigger("{ plug: P, appliance: started, cycle: defrost }") == .appliance(plug: "P", .started(.defrost)))
        #expect(try trigger("{ rule: B }") == .rule("B"))
    }

    @Test("Triggers of the clock are parsed") func triggersOfTheClock() throws {
        let time = try #require(TimeOfDay(hour: 7, minute: 30))
        #expect(try trigger("{ time: 07:30 }") == .schedule(.daily(time, on: .all)))
        #expect(
            try trigger("{ time: \"7:30\", weekdays: [mon, sunday] }")
                == .schedule(.daily(time, on: [.monday, .sunday])))
        #expect(
            try trigger("{ sun: sunset, offset: -30 min, weekdays: sat }")
                == .schedule(.sun(.sunset, offset: .seconds(-1800), on: .saturday)))
        guard case .schedule(.cron(let cron)) = try trigger("{ cron: \"0 7 * * mon\" }") else {
            Issue.record("the trigger is not a schedule")
            return
        }
        #expect(cron.weekdays == .monday && cron.minutes == 1)
    }

    @Test("Conditions are parsed") func whatHolds() throws {
        let five = try #require(TimeOfDay(hour: 17, minute: 0))
        #expect(
            try conditions("{ time: { after: \"17:00\", before: sunrise } }")
                == [.time(DailyWindow(after: .clock(five), before: .sun(.sunrise, offset: .zero)))])
        #expect(
            try conditions("{ time: { after: { sunset: -30 min } } }")
                == [.time(DailyWindow(after: .sun(.sunset, offset: .seconds(-1800)), before: .clock(.endOfDay)))])
        #expect(
            try conditions("{ plug: L, level: { above: 30 %, below: 60 % }, connection: away, weekdays: sun }")
                == [
                    .all([
                        .level(plug: "L", .above(DimLevel(percent: 30))),
                        .level(plug: "L", .below(DimLevel(percent: 60))),
                    ]), .present(plug: "L", false), .weekdays(.sunday),
                ])
        #expect(
            try conditions("[{ any: [{ plug: L, relay: on }, { not: { plug: M, active power: { below: 5 W } } }] }]")
                == [.any([.relay(plug: "L", on: true), .not(.activePower(plug: "M", .below(5)))])])
        #expect(
            try conditions("{ not: { plug: L, relay: on, connection: present } }")
                == [.not(.all([.relay(plug: "L", on: true), .present(plug: "L", true)]))])
    }

    @Test("Actions are parsed") func whatIsDone() throws {
        #expect(try action("{ turn on: { plug: Fan, for: 15 min } }") == .turnOn(["Fan"], autoOff: .seconds(900)))
        #expect(try action("{ turn on: [A, B] }") == .turnOn(["A", "B"]))
        #expect(
            try action("{ dim: { plug: L, by: -10 %, over: 2 s } }") == .dimBy(["L"], permille: -100, over: .seconds(2))
        )
        #expect(try action("{ restore: L }") == .restore(["L"]))
        #expect(try action("{ wait: 1 d }") == .wait(.seconds(86_400)))
        #expect(
            try action("{ wait until: { plug: X, relay: off }, timeout: 5 min }")
                == .waitUntil(.relay(plug: "X", on: false), timeout: .seconds(300), .stop))
        #expect(
            try action("{ wait until: [{ weekdays: mon }, { weekdays: tue }], timeout: 5 min, otherwise: go on }")
                == .waitUntil(.all([.weekdays(.monday), .weekdays(.tuesday)]), timeout: .seconds(300), .goOn))
        #expect(try action("{ notify: \"{plug} is on\" }") == .notify(title: nil, text: "{plug} is on"))
        #expect(try action("{ notify: { title: T, text: \"{ and }\" } }") == .notify(title: "T", text: "{ and }"))
        #expect(try action("{ run: [echo, \"\", \"a b\"] }") == .run(["echo", "", "a b"], timeout: .seconds(30)))
        #expect(try action("{ run: { command: sync, timeout: 10 min } }") == .run(["sync"], timeout: .seconds(600)))
        #expect(try action("{ web hook: \"http://h/x\" }") == .webHook(WebHook(url: "http://h/x")))
        #expect(
            try action("{ web hook: { url: \"https://h\", method: GET, body: \"{}\" } }")
                == .webHook(WebHook(url: "https://h", method: "GET", body: "{}")))
        #expect(try action("{ wake: Media Server }") == .wake("Media Server"))
    }

    @Test("Settings are parsed, and missing ones have their defaults") func whatStandsBesideThem() throws {
        let plain = try rule("- { rule: A, when: { rule: B }, then: { toggle: A } }")
        #expect(plain.mode == .single && plain.limit == nil && plain.maximumAge == Rule.usualMaximumAge)
        #expect(plain.remembersAway == nil && plain.cooldown == .zero)
        let start = "- { rule: A, when: { rule: B }, then: { toggle: A }, "
        let set = try rule(
            start
                + "mode: { queued: 5 }, limit: { firings: 6, per: 1 h }, late: { accept: 10 min }, away: { remember: 2 h } }"
        )
        #expect(set.mode == .queued(atMost: 5) && set.limit == FiringLimit(6, within: .seconds(3600)))
        #expect(set.maximumAge == .seconds(600) && set.remembersAway == .seconds(7200))
        let words = try rule(start + "mode: parallel, late: accept, away: remember }")
        #expect(words.mode == .parallel(atMost: 10) && words.maximumAge == .seconds(3600))
        #expect(words.remembersAway == .seconds(86_400))
    }
}
