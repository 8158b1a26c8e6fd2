import RuleFiles
import RuleModel
import Scripting

extension FuzzTarget {
    /// Parses a line of a script's process, which the script may control. It is accepted within the limits, or rejected
    /// with a reason.
    static let scriptLine = FuzzTarget(
        name: "script-line",
        seeds: { scriptLines.map { Array($0.utf8) } },
        check: { bytes in
            let isAnswer = try checkOutcome(bytes)
            return try checkScript(bytes) || isAnswer
        })

    private static func checkOutcome(_ bytes: [UInt8]) throws -> Bool {
        let outcome: ScriptOutcome
        do throws(ScriptFault) {
            outcome = try ScriptReplies.outcome(of: bytes)
        } catch {
            try require(!error.words.isEmpty, "rejected without a reason")
            return false
        }
        switch outcome {
        case .answered(let answer):
            try require(answer.actions.count <= ScriptLimits.actions, "\(answer.actions.count) actions")
            for action in answer.actions {
                switch action {
                case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .notify, .run, .webHook, .wake: break
                case .wait, .waitUntil, .call: throw FuzzFailure("a script may not request \(action)")
                }
            }
            for timer in answer.timers {
                try require((.zero...ScriptLimits.longestTimer).contains(timer.delay ?? .zero), "\(timer)")
                try require((1...ScriptLimits.timerNameSize).contains(timer.name.utf8.count), "\(timer)")
            }
            try require(answer.state?.utf8.count ?? 0 <= ScriptLimits.stateSize, "the state is too large")
            try require(answer.state?.contains("\n") != true, "the state has several lines")
            try checkLog(answer.log)
        case .failed(let words, let log):
            try require(!words.isEmpty && !words.contains("\n"), "failed without a reason: '\(words)'")
            try checkLog(log)
        }
        return true
    }

    private static func checkScript(_ bytes: [UInt8]) throws -> Bool {
        let script: Script
        do throws(ScriptFault) {
            script = try ScriptReplies.script(name: "fuzzed.lua", source: "-- 1\n  -- 2\n", line: bytes)
        } catch {
            guard case .refused(let refusal) = error else { return false }
            for diagnostic in refusal.diagnostics {
                try require(diagnostic.place.line >= 1 && !diagnostic.message.isEmpty, "\(diagnostic) has no place")
            }
            return true
        }
        try require(script.rules.count <= ScriptLimits.handlers, "\(script.rules.count) functions")
        try require(Set(script.rules.map(\.name)).count == script.rules.count, "two rules share a name")
        for (index, rule) in script.rules.enumerated() {
            let call = RuleAction.call(ScriptHandler(script: "fuzzed.lua", index: index))
            try require(rule.actions == [call] && !rule.triggers.isEmpty, "\(rule) is not a rule of the script")
        }
        try checkLog(script.log)
        return true
    }

    private static func checkLog(_ log: [String]) throws {
        try require(log.count <= ScriptLimits.logLines, "\(log.count) lines of log")
        for line in log {
            try require(line.utf8.count <= ScriptLimits.logLineSize + 3, "a log line is too long")
            try require(
                line.unicodeScalars.allSatisfy { $0 == "\t" || $0.properties.generalCategory != .control },
                "a log line has a control character")
        }
    }

    private static let scriptLines = [
        #"{"loaded":{"rules":[{"line":2,"when":{"plug":"TV","active power":{"rises above":"40 W"}},"cooldown":"10 s"},"#
            + #"{"line":2,"when":{"timer":"lights out"}},{"line":1,"when":{"cron":"*/15 * * * *"},"late":"accept"}],"#
            + #""log":["loaded"]}}"#,
        #"{"done":{"then":[{"turn off":"Light"},{"dim":{"plug":"Lamp","to":"40 %","over":"2 s"}},{"notify":"a \u00e4"},"#
            + #"{"turn on":{"plug":"Fan","for":"15 min"}},{"run":["sync"]}],"timers":[{"name":"x","after":600},{"name":"y"}],"#
            + #""state":{"n":[1,2.5,true,null,"\ud83d\ude00"]},"log":["one"]}}"#,
        #"{"done":{}}"#, #"{"failed":{"error":"fuzzed.lua:2: no value\nhint: write one","log":["before"]}}"#,
    ]
}
