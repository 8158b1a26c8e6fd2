import LinuxSystem
import PlugModel
import RuleModel
import Testing

@testable import Scripting

/// Uses the program `plugctl-script`, if it has been built.
@Suite(
    "The real script host",
    .enabled(if: (try? ScriptHost.path()) != nil, "plugctl-script is not built"), .timeLimit(.minutes(5)))
struct RealHostTests {
    private let host: String

    init() throws { host = try ScriptHost.path() }

    private func script(_ body: String, name: String = "house.lua") throws -> Script {
        let source = "on(\"Button\", \"button\", \"long\", function(event)\n\(body)\nend)\n"
        return try ScriptReader(host: host).read(name: name, source: source, time: .start)
    }

    @Test("Functions of a script become rules") func functionsBecomeRules() throws {
        let source = """
            on("Television", "rises above", 40, {lasting = "3 s", cooldown = 10}, function() end)
            for _, name in ipairs {"A", "B"} do on(name, "connection", "lost", function() end) end
            on("timer", "lights out", function() end)
            """
        let script = try ScriptReader(host: host).read(name: "tv.lua", source: source, time: .start)
        #expect(script.rules.map(\.name) == ["tv.lua:1", "tv.lua:2", "tv.lua:2.2", "tv.lua:3"])
        let threshold = PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3))
        #expect(script.rules[0].triggers == [.activePower(plug: "Television", threshold)])
        #expect(script.rules[0].cooldown == .seconds(10))
        #expect(script.rules[2].triggers == [.lost(plug: "B", dwell: .zero)])
        #expect(script.rules[3].triggers == [.timer(ScriptTimer(script: "tv.lua", name: "lights out"))])
    }

    @Test("A mistake in a script is reported with its line") func wrongScriptIsRefusedWithItsLine() {
        #expect {
            try ScriptReader(host: host).read(
                name: "tv.lua", source: "\n  on(\"TV\", \"rises abov\", 40)", time: .start)
        } throws: { error in
            guard case .refused(let refusal)? = error as? ScriptFault else { return false }
            let diagnostic = refusal.diagnostics[0]
            return diagnostic.place.line == 2 && diagnostic.hint != nil
                && diagnostic.line == "  on(\"TV\", \"rises abov\", 40)"
        }
    }

    @Test("Times in another season are converted with the offset of that season")
    func seasons() throws {
        let (spring, autumn) = (1_774_746_000, 1_792_890_000)
        let zone = LocalOffsets(from: spring - 86_400, to: autumn + 86_400) {
            (spring..<autumn).contains($0) ? 7200 : 3600
        }
        let winter = ScriptTime(at: Double(spring - 50_000), offset: 3600, zone: zone)
        let script = try script(
            """
            log(os.time {year = 2026, month = 3, day = 30, hour = 7})
            log(os.date("%Y-%m-%d %H:%M %z", 1774846800))
            log(os.time {year = 2026, month = 10, day = 25, hour = 2, min = 30})
            log(os.time {year = 2026, month = 3, day = 29, hour = 2, min = 30})
            log(os.time {year = 2026, month = 12, day = 24, hour = 18})
            """)
        let process = try ScriptProcess(script, host: host, state: nil, time: winter)
        guard case .answered(let answer) = try process.call(.press(), plugs: [], time: winter) else {
            Issue.record("the call failed")
            return
        }
        #expect(
            answer.log == [
                "1774846800", "2026-03-30 07:00 +0200", "\(autumn - 1800)", "\(spring + 1800)", "1798131600",
            ])
    }

    @Test("All requests of a function are in one answer") func functionAsksForAllAtOnce() throws {
        let script = try script(
            """
            local lamp = plug("Lamp")
            state.count = (state.count or 0) + 1
            if lamp:isOn() then lamp:dim(lamp:level() / 2, {over = 2}) else lamp:on{["for"] = "15 min"} end
            plug("Fan"):toggle()
            timer("lights out"):start(600)
            notify("It was " .. event.value)
            log("count", state.count)
            """)
        let process = try ScriptProcess(script, host: host, state: #"{"count":2}"#, time: .start)
        let outcome = try process.call(.press(), plugs: [.lamp(on: true, percent: 40)], time: .start)
        var answer = ScriptAnswer()
        answer.actions = [
            .dim(["Lamp"], to: DimLevel(percent: 20), over: .seconds(2)), .toggle(["Fan"]),
            .notify(title: nil, text: "It was 86.5"),
        ]
        answer.timers = [ScriptAnswer.TimerChange(name: "lights out", delay: .seconds(600))]
        (answer.state, answer.log) = (#"{"count":3}"#, ["count 3"])
        #expect(outcome == .answered(answer))
    }

    @Test(
        "A script that exceeds a limit fails with the reason, and other scripts continue",
        arguments: [
            ("while true do end", "computed for more than 1 s"),
            ("local t = {} while true do t[#t + 1] = (\"x\"):rep(1000) .. #t end", "not enough memory"),
            ("string.find((\"a\"):rep(300000), (\".-\"):rep(30) .. \"b\")", "computed for more than 1 s"),
            ("io.open(\"/etc/passwd\")", "io"), ("os.execute(\"true\")", "execute"),
            ("local x = nil; x.y = 1", "nil value"),
        ])
    func misdeedsAreNamedAndOthersGoOn(body: String, words: String) async throws {
        let pool = ScriptPool(host: host)
        await pool.replace([try script(body), try script("log(\"here\")", name: "other.lua")], states: [:])
        async let bad = pool.call(.press(), plugs: [], state: nil, time: .start)
        let good = await pool.call(.press(of: "other.lua"), plugs: [], state: nil, time: .start)
        guard case .answered(let answer) = good, answer.log == ["here"] else {
            Issue.record("the other script did not answer: \(String(describing: good))")
            return
        }
        guard case .failed(let why, log: _) = await bad else {
            Issue.record("the script that exceeds a limit did not fail")
            return
        }
        #expect(why.contains(words), "\(why)")
        await pool.end()
    }

    @Test(
        "Thousands of events are answered in order",
        .timeLimit(.minutes(5)))
    func thousandsOfEventsAreAnsweredInTheirOrder() async throws {
        let pool = ScriptPool(host: host)
        await pool.replace([try script("state.n = (state.n or 0) + 1 plug(\"Lamp\"):off()")], states: [:])
        var last: String?
        for _ in 0..<3000 {
            guard case .answered(let answer) = await pool.call(.press(), plugs: [], state: last, time: .start),
                answer.actions == [.turnOff(["Lamp"])]
            else {
                Issue.record("a call was not answered")
                return
            }
            last = answer.state
        }
        #expect(last == #"{"n":3000}"#)
        await pool.end()
    }
}
