import Automation
import PlugModel
import RuleModel
import Testing

@testable import Backtesting

/// A script that consists of closures, selected by the index of the handler.
private final class MadeUpScript: PastScripts {
    let plugs: [String]
    let words: [String]
    private let functions: [(ScriptCall, [PlugView]) -> ScriptOutcome]
    private(set) var times: [Int64] = []
    private(set) var refusals: [String] = []

    init(plugs: [String] = [], words: [String] = [], _ functions: (ScriptCall, [PlugView]) -> ScriptOutcome...) {
        (self.plugs, self.words, self.functions) = (plugs, words, functions)
    }

    func call(_ call: ScriptCall, plugs: [PlugView], at milliseconds: Int64) -> ScriptOutcome {
        times.append(milliseconds - FakeHistory.midnight)
        return functions[call.handler.index](call, plugs)
    }

    func refused(_ script: String) { refusals.append(script) }
}

extension FakeHistory {
    fileprivate func run(_ rules: [Rule], _ script: MadeUpScript, _ seconds: ClosedRange<Int>) throws -> BacktestReport
    {
        let span = Self.midnight + Int64(seconds.lowerBound) * 1000...Self.midnight + Int64(seconds.upperBound) * 1000
        return try PastHouse(history, zone: .utc).run(rules, over: span, scripts: script)
    }
}

private func answer(
    _ actions: [RuleAction], timers: [ScriptAnswer.TimerChange] = [], log: [String] = []
) -> ScriptOutcome {
    var answer = ScriptAnswer()
    (answer.actions, answer.timers, answer.log) = (actions, timers, log)
    return .answered(answer)
}

@Suite struct ScriptBacktestTests {
    private let rises = Trigger.activePower(
        plug: "Television", PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3)))
    private let falls = Trigger.activePower(
        plug: "Television", PowerThreshold(.fallsBelow, watts: 20, dwell: .seconds(10)))

    private func calling(_ index: Int, _ trigger: Trigger) -> Rule {
        Rule(
            name: "tv.lua:\(index)", triggers: [trigger],
            actions: [.call(ScriptHandler(script: "tv.lua", index: index))])
    }

    private func evening() throws -> FakeHistory {
        let past = try FakeHistory()
        _ = try past.record("Television", "00000000a001", 0..<7200) { (1000..<1100).contains($0 % 3600) ? 90 : 1 }
        let amplifier = try past.record("Amplifier", "00000000a002", 0..<7200) { _ in 0 }
        try past.switched(amplifier, 1, on: false, at: 10)
        try past.switched(amplifier, 2, on: true, at: 1045)
        return past
    }

    @Test("A script with the same actions as rules has the same effects") func aScriptDoesWhatTheRulesDo() throws {
        let past = try evening()
        let night: [RuleAction] = [.turnOff(["Ceiling Light"]), .turnOn(["Amplifier"])]
        let over: [RuleAction] = [.restore(["Ceiling Light"]), .restore(["Amplifier"])]
        let rules = [
            Rule(name: "tv.lua:0", triggers: [rises], actions: night),
            Rule(name: "tv.lua:1", triggers: [falls], actions: over),
        ]
        let script = MadeUpScript(
            plugs: ["Ceiling Light", "Amplifier"], { _, _ in answer(night) }, { _, _ in answer(over) })
        let expected = try past.run(rules, 0...7199)
        let report = try past.run([calling(0, rises), calling(1, falls)], script, 0...7199)
        #expect(report.told == expected.told && report.told.count == 4)
        func steps(_ report: BacktestReport) -> [[String]] { report.firings.map { $0.trace.steps.map(\.what) } }
        #expect(steps(report) == steps(expected))
        #expect(report.firings.map(\.recorded) == expected.firings.map(\.recorded))
        #expect(report.unrecorded == expected.unrecorded)
    }

    @Test("Timers of scripts end in virtual time and can be stopped")
    func timersEndInVirtualTimeAndAreStopped() throws {
        let past = try evening()
        let timer = { ScriptAnswer.TimerChange(name: $0, delay: $1) }
        let script = MadeUpScript(
            { _, _ in answer([], timers: [timer("lights out", .seconds(600)), timer("never", .seconds(60))]) },
            { _, _ in answer([], timers: [timer("never", nil)]) },
            { _, _ in answer([.turnOff(["Lamp"])], log: ["out"]) })
        let ended = { calling($0, .timer(ScriptTimer(script: "tv.lua", name: $1))) }
        let rules = [calling(0, rises), calling(1, falls), ended(2, "lights out"), ended(2, "never")]
        var named = rules
        named[3].name = "tv.lua:3"
        let report = try past.run(named, script, 0...3599)
        // The fall comes 107 s after the rise: the timer of one minute has already ended.
        #expect(report.told == ["tv.lua:0 1003.0", "tv.lua:3 1063.0", "tv.lua:1 1110.0", "tv.lua:2 1603.0"])
        #expect(report.firings[3].trace.steps.map(\.what) == ["log: out", "turn off Lamp"])
        #expect(report.unrecorded == ["Lamp"], "a plug without samples must be listed as unrecorded")
    }

    @Test("A script receives the plugs in their state at the time of the call")
    func itSeesThePlugsAsTheyAreThen() throws {
        let past = try evening()
        var seen: [PlugView] = []
        let script = MadeUpScript(
            plugs: ["Amplifier"],
            { _, plugs in
                seen = plugs.sorted { $0.name < $1.name }
                return .failed("tv.lua:3: no", log: ["so far"])
            })
        let report = try past.run([calling(0, rises)], script, 0...3599)
        #expect(seen.map(\.name) == ["Amplifier", "Television"])
        #expect(seen.map(\.isOn) == [false, true] && seen.map(\.activePower) == [0, 90])
        #expect(script.times == [1_003_000])
        #expect(report.counts["tv.lua:0"]?.failures == 1)
        #expect(report.firings[0].trace.steps.map(\.what) == ["log: so far", "call tv.lua"])
        #expect(report.firings[0].trace.steps[1].outcome == "failed: tv.lua:3: no")
        #expect(report.summary(.utc)[0] == "tv.lua:0: 1 firing; 1 call failed")
    }

    @Test("An answer that the daemon would refuse is refused in a backtest")
    func whatTheDaemonRefusesIsRefusedHereToo() throws {
        let past = try evening()
        let timers = (0..<65).map { ScriptAnswer.TimerChange(name: "\($0)", delay: .seconds(60)) }
        let script = MadeUpScript(
            { _, _ in answer([], timers: Array(timers[..<64])) },
            { _, _ in answer([.turnOff(["Lamp"])], timers: timers, log: ["so far"]) })
        var again = calling(1, rises)
        again.name = "tv.lua:2"
        let rules = [calling(0, rises), again, calling(1, .timer(ScriptTimer(script: "tv.lua", name: "64")))]
        let report = try past.run(rules, script, 0...1100)
        #expect(script.refusals == ["tv.lua"] && report.counts["tv.lua:2"]?.failures == 1)
        let trace = try #require(report.firings.first { $0.trace.rule == "tv.lua:2" }).trace
        #expect(trace.steps.map(\.what) == ["log: so far", "call tv.lua"])
        #expect(trace.steps[1].outcome == "failed: it would have 65 timers, but at most 64 are allowed")
        #expect(report.told == ["tv.lua:0 1003.0", "tv.lua:2 1003.0"])
    }

    @Test("Commands of a script beyond the limit per minute are left out")
    func moreCommandsThanAMinuteMayHaveAreLeftOut() throws {
        let past = try evening()
        let many = (0..<70).map { RuleAction.turnOff(["Lamp \($0)"]) }
        let report = try past.run([calling(0, rises)], MadeUpScript({ _, _ in answer(many) }), 0...3599)
        #expect(report.counts["tv.lua:0"]?.commandsHeldBack == 10)
        #expect(report.firings[0].trace.steps.count { $0.what.hasPrefix("turn off") } == 60)
    }
}
