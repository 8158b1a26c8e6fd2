import LinuxSystem
import PlugModel
import RuleModel
import Testing

@testable import Scripting

@Suite("Messages of the script host") struct MessageTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("A load request has the source, the state and the time") func loadTellsSourceStateAndTime() {
        let line = HostRequest.load(
            name: "a.lua", source: "log(\"ü\\\n\u{1}\")", state: #"{"count":3}"#,
            time: ScriptTime(at: 12.5, offset: -3600))
        #expect(
            text(line)
                == #"{"load":{"name":"a.lua","source":"log(\"ü\\\n\u0001\")","state":{"count":3},"at":12.5,"offset":-3600}}"#
                + "\n")
    }

    @Test("The time zone is sent as its first offset, then the time and the offset of each change")
    func zone() {
        let zone = LocalOffsets(from: 0, to: 1_000_000) { $0 < 500_000 ? 3600 : 7200 }
        let line = HostRequest.load(
            name: "a.lua", source: "", state: nil, time: ScriptTime(at: 12, offset: 3600, zone: zone))
        #expect(text(line).hasSuffix(#""at":12,"offset":3600,"zone":[3600,500000,7200]}}"# + "\n"))
    }

    @Test("A call has the event and the plugs") func callTellsTheEventAndThePlugs() {
        var away = PlugView(name: "Away", isConnected: false)
        away.activePower = .nan
        let line = HostRequest.call(.press(), plugs: [.lamp(on: false, percent: 40), away], time: .start)
        let id = String(repeating: "01", count: 16)
        let event = #"{"id":"\#(id)","rule":"house.lua:1","why":"by hand","plug":"Button","value":86.5}"#
        let lamp = #"{"name":"Lamp","connected":true,"on":false,"level":40,"power":3.25}"#
        let words = text(line).replacing(/"why":"[^"]*"/, with: #""why":"by hand""#)
        #expect(
            words == #"{"call":{"handler":0,"at":1700000000.5,"offset":3600,"event":\#(event),"#
                + #""plugs":[\#(lamp),{"name":"Away","connected":false}]}}"# + "\n")
        #expect(!text(HostRequest.call(.press(), plugs: [], time: .start)).contains("plugs"))
    }

    @Test("An answer is read completely") func answerIsReadWhole() throws {
        let line = #"""
            {"done":{"then":[{"turn off":"Ceiling Light"},{"dim":{"plug":"Lamp","to":"40 %","over":"2 s"}}],
            "timers":[{"name":"lights out","after":600.5},{"name":"x"}],"state":{"n":1, "list":[]},"log":["a\u0007b"]}}
            """#.replacing("\n", with: "")
        guard case .answered(let answer) = try ScriptReplies.outcome(of: Array(line.utf8)) else {
            Issue.record("the answer was not accepted")
            return
        }
        #expect(
            answer.actions == [
                .turnOff(["Ceiling Light"]), .dim(["Lamp"], to: DimLevel(percent: 40), over: .seconds(2)),
            ])
        #expect(
            answer.timers == [
                ScriptAnswer.TimerChange(name: "lights out", delay: .milliseconds(600_500)),
                ScriptAnswer.TimerChange(name: "x", delay: nil),
            ])
        #expect(answer.state == #"{"n":1, "list":[]}"# && answer.log == ["a b"])
    }

    @Test("An empty answer has no effect") func emptyAnswerAsksForNothing() throws {
        #expect(try ScriptReplies.outcome(of: Array(#"{"done":{}}"#.utf8)) == .answered(ScriptAnswer()))
        // Lua encodes an empty table as an object or as a list.
        #expect(
            try ScriptReplies.outcome(of: Array(#"{"done":{"then":{},"log":{}}}"#.utf8)) == .answered(ScriptAnswer()))
    }

    @Test(
        "A refused answer is reported with the reason",
        arguments: [
            (#"{"done":{"then":[{"turn off":7,"wait":"1 s"}]}}"#, "'wait' is not known in an action"),
            (#"{"done":{"then":[{"turn offf":"Lamp"}]}}"#, "did you mean 'turn off'?"),
            (#"{"done":{"then":["turn off"]}}"#, "an action is a mapping, not a single value"),
            (#"{"done":{"timers":[{"name":"x","after":-1}]}}"#, "the time of the timer 'x' is out of range"),
            (#"{"done":{"timers":[{"name":"","after":1}]}}"#, "'timer' is empty"),
            (#"{"failed":{"error":"a.lua:3: no\nhint: yes"}}"#, "a.lua:3: no (hint: yes)"),
        ])
    func refusedAnswerSaysWhy(line: String, words: String) throws {
        guard case .failed(let why, log: _) = try ScriptReplies.outcome(of: Array(line.utf8)) else {
            Issue.record("the answer was not refused: \(line)")
            return
        }
        #expect(why.contains(words), "\(why)")
    }

    @Test("An answer beyond a limit is refused, and a long log is cut") func moreThanMayBeIsRefused() throws {
        func outcome(_ key: String, _ entry: String, _ count: Int) throws -> ScriptOutcome {
            let list = [String](repeating: entry, count: count).joined(separator: ",")
            return try ScriptReplies.outcome(of: Array("{\"done\":{\"\(key)\":[\(list)]}}".utf8))
        }
        guard case .answered = try outcome("then", #"{"toggle":"L"}"#, 256),
            case .failed = try outcome("then", #"{"toggle":"L"}"#, 257),
            case .failed = try outcome("timers", #"{"name":"L"}"#, 257),
            case .answered(let logged) = try outcome("log", "\"\(String(repeating: "ü", count: 400))\"", 200)
        else {
            Issue.record("an answer at a limit was refused, or one beyond a limit was accepted")
            return
        }
        #expect(logged.log.count == 100 && logged.log.allSatisfy { $0.utf8.count <= 503 })
        let state = "{\"done\":{\"state\":\"\(String(repeating: "x", count: 65_536))\"}}"
        guard case .failed(let why, log: _) = try ScriptReplies.outcome(of: Array(state.utf8)) else {
            Issue.record("a state of 64 KiB and two bytes was accepted")
            return
        }
        #expect(why.contains("65538 bytes"))
    }

    @Test(
        "An invalid reply throws an error",
        arguments: [
            "", "{", "[]", "{}", "null", #"{"done":{}"#, #"{"done":{}}x"#, #"{"done":{},"failed":{"error":"x"}}"#,
            #"{"done":[]}"#,
            #"{"done":{"then":3}}"#, #"{"done":{"else":[]}}"#, #"{"done":{"log":["\ud800x\u12"]}}"#, #"{"failed":{}}"#,
            #"{"done":{"then":{"a":1}}}"#, #"{"done":{"timers":[{"name":"x","after":1e999}]}}"#,
            #"{"done":{"state":tru}}"#,
            "{\"done\":{\"log\":[\"a\nb\"]}}", #"{"loaded":{"rules":[]}}"#, #"{"done":{"state":+1}}"#,
        ])
    func whatIsNoAnswerEndsTheProcess(line: String) {
        #expect(throws: ScriptFault.self) { try ScriptReplies.outcome(of: Array(line.utf8)) }
    }

    @Test("A reply that is nested 100,000 levels deep is rejected") func nestedWithoutAnEndIsRefused() {
        for bracket in ["[", "{\"a\":"] {
            let line = "{\"done\":{\"state\":" + String(repeating: bracket, count: 100_000)
            #expect(throws: ScriptFault.self) { try ScriptReplies.outcome(of: Array(line.utf8)) }
        }
    }

    @Test("Text is decoded as JSON defines it") func textsAreReadAsJSONHasThem() throws {
        let line = #"{"done":{"log":["\u00e4 \ud83d\ude00 \"\\\/\b\f\n\r\t","\udc00","\ud800\u0041"]}}"#
        guard case .answered(let answer) = try ScriptReplies.outcome(of: Array(line.utf8)) else {
            Issue.record("the answer was not accepted")
            return
        }
        // In a log, control characters become spaces, except the tab.
        #expect(answer.log == ["ä 😀 \"\\/    \t", "\u{FFFD}", "\u{FFFD}"])
    }
}
