import Daemon
import LinuxSystem
import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import Presentation
@testable import RuleModel

/// Every notice as a line of JSON and as text.
@Suite struct RuleRecordTests {
    private let firing = Firing(
        id: request, rule: "Movie night",
        cause: Firing.Cause(
            .trigger(
                .activePower(plug: "television", PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3)))),
            plug: "Television", value: 83.2, since: .zero), time: .zero)
    private let press = Firing(
        id: request, rule: "Hall",
        cause: Firing.Cause(.trigger(.button(plug: "Switch", .double)), plug: "Switch", event: 7), time: .zero)
    private let decided = StoredRuleState.Command(
        request: CommandRequest(id: request, plug: "Lamp", command: .setRelay(on: true, autoOff: nil)),
        plug: PlugID(rawValue: "0123456789ab")!, rule: "Hall", cause: "Switch: button pressed", event: 7, until: .zero)
    private let at = #""at":"2026-11-21T09:01:23.456Z""#
    private let id = #""id":"09090909090909090909090909090909""#

    private func check(_ cases: [(RuleNotice, String, String)]) {
        for (notice, line, text) in cases {
            let record = RuleRecord(RunnerRecord(at: moment, notice: notice))
            #expect(jsonLine(record) == line)
            #expect(record.text == text)
        }
    }

    @Test("Notices of plugs, rules, commands and storage") func whatRulesAndTheirCommandsAre() {
        let why = "Television rose above 40 W for 3 s (now 83.2 W)"
        check([
            (
                .following(plugs: 3, newest: "Lamp"), #"{\#(at),"event":"following","plug":"Lamp","plugs":3}"#,
                "following Lamp, 3 plugs in all"
            ),
            (.lost(plug: "Lamp"), #"{\#(at),"event":"lost","plug":"Lamp"}"#, "Lamp is gone"),
            (
                .gap(plug: "Lamp", Gap(from: 3, to: 9, reason: .powerLost)),
                #"{\#(at),"event":"gap","from":3,"plug":"Lamp","to":9,"why":"powerLost"}"#,
                "Lamp: events 3 to 9 are lost (powerLost)"
            ),
            (
                .firing(firing),
                #"{\#(at),"event":"firing",\#(id),"plug":"Television","rule":"Movie night","why":"\#(why)"}"#,
                "\"Movie night\" fires: \(why)"
            ),
            (
                .heldBack(press, .condition(.relay(plug: "Lamp", on: true))),
                #"{\#(at),"cause":7,"event":"heldBack","plug":"Switch","rule":"Hall","#
                    + #""why":"Switch: button pressed (double); condition does not hold: Lamp is on"}"#,
                "\"Hall\" was held back: Switch: button pressed (double); condition does not hold: Lamp is on"
            ),
            (
                .notSent(press, plug: "Lamp", .notPresent),
                #"{\#(at),"cause":7,"event":"notSent","plug":"Lamp","rule":"Hall","why":"the plug is not connected"}"#,
                "\"Hall\" cannot command Lamp: the plug is not connected"
            ),
            (
                .command(decided, .done(state(), event: 12)),
                #"{\#(at),"cause":7,"event":"command","outcome":"done","plug":"Lamp","rule":"Hall","seq":12}"#,
                "Lamp: done"
            ),
            (
                .command(decided, .refused(Refusal(.protectionTripped, "too much"))),
                #"{\#(at),"cause":7,"event":"command","outcome":"protectionTripped","plug":"Lamp","#
                    + #""rule":"Hall","why":"too much"}"#,
                "Lamp: protectionTripped: too much"
            ),
            (
                .resumed(decided),
                #"{\#(at),"cause":7,"event":"resumed","plug":"Lamp","rule":"Hall","why":"Switch: button pressed"}"#,
                "Lamp: command sent again, because \"Hall\" fired before the restart: Switch: button pressed"
            ),
            (
                .notStored(reason: "no room"), #"{\#(at),"event":"notStored","why":"no room"}"#,
                "the state of the rules cannot be stored: no room; until it can, a crash may lose a command or repeat a firing"
            ),
            (.stored, #"{\#(at),"event":"stored"}"#, "the state of the rules is stored again"),
        ])
    }

    @Test("Notices of triggers that nearly fired, of disabled rules and of steps")
    func whatBecameOfAnEdgeThatFiredNothing() {
        let miss = NearMiss(
            rule: "Movie night", trigger: .activePower(plug: "Television", PowerThreshold(.risesAbove, watts: 40)),
            plug: "Television", since: .zero, lasted: .milliseconds(1200), end: .wentBack(12))
        let why = "Television rises above 40 W: it held 1.2 s, then the power was 12 W"
        check([
            (
                .nearMiss(miss),
                #"{\#(at),"event":"nearMiss","lasted":1.2,"plug":"Television","rule":"Movie night","why":"\#(why)"}"#,
                "\"Movie night\" nearly fired: \(why)"
            ),
            (
                .ruleEnabled("Hall", false), #"{\#(at),"enabled":false,"event":"ruleEnabled","rule":"Hall"}"#,
                "\"Hall\" is turned off"
            ),
            (
                .step(press, .waiting(until: .zero)),
                #"{\#(at),"cause":7,"event":"step","plug":"Switch","rule":"Hall","what":"waits"}"#,
                "\"Hall\" waits"
            ),
        ])
    }

    @Test("Notices of commands that were sent or are stored for an absent plug") func whatIsOnItsWay() {
        let command = CommandRequest(id: request, plug: "Lamp", command: .setRelay(on: true, autoOff: .seconds(900)))
        let waits = "Lamp is away: turn on will be sent when it returns, for \"Hall\": Switch: button pressed"
        check([
            (
                .commanded(command, press),
                #"{\#(at),"cause":7,"event":"commanded","plug":"Lamp","rule":"Hall","what":"turn on for 900 s"}"#,
                "Lamp: turn on for 900 s, for \"Hall\""
            ),
            (
                .remembered(decided),
                #"{\#(at),"cause":7,"event":"remembered","plug":"Lamp","rule":"Hall","what":"turn on","#
                    + #""why":"Switch: button pressed"}"#, waits
            ),
        ])
    }

    @Test("Notices of notifications, commands of programs and web hooks") func whatIsDoneOutsideOfTheHouse() {
        let words = EffectRequest(id: request, effect: .notify(title: "Laundry", text: "It is done"), firing: press)
        let run = EffectRequest(id: request, effect: .run(["say", "done"], timeout: .seconds(30)), firing: press)
        let hook = EffectRequest(id: request, effect: .webHook(WebHook(url: "http://x/y")), firing: press)
        let wake = EffectRequest(id: request, effect: .wake("Media Server"), firing: press)
        let who = #""cause":7,"effect""#
        let about = #"\#(id),"message":"It is done""#
        check([
            (
                .performing(hook),
                #"{\#(at),\#(who):"webHook","event":"performing",\#(id),"plug":"Switch","rule":"Hall","#
                    + #""what":"POST http://x/…"}"#, "\"Hall\": POST http://x/…"
            ),
            (
                .effect(wake, .reported("awake after 4 s")),
                #"{\#(at),\#(who):"wake","event":"effect",\#(id),"outcome":"done","plug":"Switch","rule":"Hall","#
                    + #""what":"wake Media Server","why":"awake after 4 s"}"#,
                "\"Hall\": wake Media Server: awake after 4 s"
            ),
            (
                .effect(run, .failed("say ended with status 1")),
                #"{\#(at),\#(who):"run","event":"effect",\#(id),"outcome":"failed","plug":"Switch","rule":"Hall","#
                    + #""what":"run say done","why":"say ended with status 1"}"#,
                "\"Hall\": run say done: failed: say ended with status 1"
            ),
            (
                .effect(words, .done),
                #"{\#(at),\#(who):"notify","event":"effect",\#(about),"outcome":"done","plug":"Switch","rule":"Hall","#
                    + #""title":"Laundry","what":"notify: Laundry: It is done"}"#,
                "\"Hall\" notifies: Laundry: It is done"
            ),
        ])
        let told = RuleRecord(RunnerRecord(at: moment, notice: .performing(words))).notification
        #expect(
            told
                == NotificationRecord(
                    at: "2026-11-21T09:01:23.456Z", rule: "Hall", title: "Laundry", text: "It is done"))
        #expect(RuleRecord(RunnerRecord(at: moment, notice: .effect(words, .done))).notification == nil)
        #expect(RuleRecord(RunnerRecord(at: moment, notice: .performing(run))).notification == nil)
    }

    @Test("Notices of scripts") func whatScriptsDo() {
        let by = Firing(id: request, rule: "hall.lua:4", cause: press.cause, time: .zero)
        let call = ScriptCall(id: request, handler: ScriptHandler(script: "hall.lua", index: 0), firing: by)
        let who = #""plug":"Switch","rule":"hall.lua:4","script":"hall.lua""#
        check([
            (
                .calling(call), #"{\#(at),"cause":7,"event":"calling",\#(id),\#(who)}"#,
                "\"hall.lua:4\": calling hall.lua"
            ),
            (
                .called(call), #"{\#(at),"cause":7,"event":"called",\#(id),\#(who)}"#,
                "\"hall.lua:4\": hall.lua has answered"
            ),
            (
                .scriptLogged(by, ["one", "two"]),
                #"{\#(at),"cause":7,"event":"scriptLog","log":["one","two"],\#(who)}"#,
                "\"hall.lua:4\" logs: one\n    two"
            ),
            (
                .callFailed(call, "hall.lua:5: no"),
                #"{\#(at),"cause":7,"event":"callFailed",\#(id),\#(who),"why":"hall.lua:5: no"}"#,
                "\"hall.lua:4\" failed: hall.lua:5: no"
            ),
            (
                .commandsHeldBack(script: "hall.lua", count: 3),
                #"{\#(at),"count":3,"event":"commandsHeldBack","script":"hall.lua"}"#,
                "hall.lua: 3 commands not sent: the script exceeds the limit of commands per minute"
            ),
            (
                .timersHeldBack(script: "hall.lua", count: 1),
                #"{\#(at),"count":1,"event":"timersHeldBack","script":"hall.lua"}"#,
                "hall.lua: 1 timer is delayed: the script exceeds the limit of timers per minute"
            ),
            (
                .scriptEnded(script: "hall.lua", why: "it computed for more than 1 s", restartsIn: .seconds(2)),
                #"{\#(at),"event":"scriptEnded","restartsIn":2,"script":"hall.lua","#
                    + #""why":"it computed for more than 1 s"}"#,
                "hall.lua ended: it computed for more than 1 s; it restarts in 2 s"
            ),
            (.scriptRuns(script: "hall.lua"), #"{\#(at),"event":"scriptRuns","script":"hall.lua"}"#, "hall.lua runs"),
            (
                .recordsLeftOut(3), #"{\#(at),"count":3,"event":"recordsLeftOut"}"#,
                "3 lines dropped because the output was not read"
            ),
        ])
    }

    @Test("A function without a name is identified by its line") func aFunctionWithoutANameIsCalledAfterItsLine() {
        for (rule, script, line) in [
            ("hall.lua:4", "hall.lua", 4), ("hall.lua:30.2", "hall.lua", 30), ("hall.lua:good night", "hall.lua", nil),
            ("hall.lua:+4", "hall.lua", nil), ("hall.lua:4", nil, nil),
        ] as [(String, String?, Int?)] {
            var state = RuleStateRecord(rule: rule, when: [], conditions: [], actions: [])
            state.script = script
            #expect(state.lineOfScript == line, "\(rule)")
        }
    }

    @Test("Notices of rule files") func whatBecomesOfTheFiles() {
        check([
            (
                .rulesChanged(["Hall", "Bedtime"]),
                #"{\#(at),"event":"rulesChanged","rules":["Hall","Bedtime"]}"#, "rules reloaded: Hall, Bedtime"
            ),
            (
                .fileBroken(path: "/r.yaml", words: "line 3"),
                #"{\#(at),"event":"fileBroken","file":"/r.yaml","why":"line 3"}"#,
                "/r.yaml is not valid, so its last valid version stays active: line 3"
            ),
            (
                .fileSound(path: "/r.yaml"), #"{\#(at),"event":"fileSound","file":"/r.yaml"}"#,
                "/r.yaml is valid again"
            ),
        ])
    }
}
