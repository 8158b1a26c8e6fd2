/// Checks that the limits in the documents match the constants of the program.
enum LimitRule {
    /// A text of a page with `#` in place of the limit, and the constant that has its value.
    struct Told: Sendable {
        var page: String
        var words: String
        var file: String
        var constant: String
        /// The unit of the page, in bytes or seconds.
        var unit = 1
    }

    private static let scripts = "Documentation/reference/scripts.md"
    private static let rules = "Documentation/reference/rules.md"
    private static let script = "Controller/Automation/Model/ScriptLimits.swift"
    private static let message = "Controller/Scripting/Messages/MessageLimits.swift"
    private static let ruleFile = "Controller/RuleFiles/RuleFileLimits.swift"
    private static let engine = "Controller/Automation/Engine/RuleEngine.swift"
    private static let restarts = "Controller/Scripting/Pool/ScriptRestarts.swift"
    private static let prelude = "Controller/ScriptHost/prelude/words.lua"
    private static let host = "Controller/ScriptHost/limits.h"
    private static let day = 86_400

    static let told = [
        Told(page: scripts, words: "web hooks | # together within any minute", file: script, constant: "commands"),
        Told(page: scripts, words: "timers that end | # within any minute", file: script, constant: "commands"),
        Told(page: scripts, words: "actions of a call | #;", file: script, constant: "actions"),
        Told(page: scripts, words: "actions of a call | #;", file: prelude, constant: "actions"),
        Told(page: scripts, words: "timers, log and state # KiB", file: message, constant: "reply", unit: 1024),
        Told(page: scripts, words: "timers, log and state # KiB", file: prelude, constant: "answerBytes", unit: 1024),
        Told(page: scripts, words: "`state` | # KiB", file: script, constant: "stateSize", unit: 1024),
        Told(page: scripts, words: "`state` | # KiB", file: prelude, constant: "stateBytes", unit: 1024),
        Told(page: scripts, words: "log of a call | # lines", file: script, constant: "logLines"),
        Told(page: scripts, words: "log of a call | # lines", file: prelude, constant: "lines"),
        Told(page: scripts, words: "lines of # bytes", file: script, constant: "logLineSize"),
        Told(page: scripts, words: "lines of # bytes", file: prelude, constant: "lineBytes"),
        Told(page: scripts, words: "functions, timers of a script | # each", file: script, constant: "handlers"),
        Told(page: scripts, words: "functions, timers of a script | # each", file: script, constant: "timers"),
        Told(page: scripts, words: "functions, timers of a script | # each", file: prelude, constant: "timers"),
        Told(
            page: scripts, words: "what calls the functions # KiB", file: prelude, constant: "rulesBytes", unit: 1024),
        Told(page: scripts, words: "0.1 s to # days", file: script, constant: "longestTimer", unit: day),
        Told(page: scripts, words: "0.1 s to # days", file: prelude, constant: "longest", unit: day),
        Told(page: scripts, words: "a name of # bytes", file: script, constant: "timerNameSize"),
        Told(page: scripts, words: "events that wait for all scripts | #,", file: script, constant: "calls"),
        Told(page: scripts, words: "waiting for a turn | # min", file: script, constant: "patience", unit: 60),
        Told(page: scripts, words: "| scripts | #;", file: script, constant: "scripts"),
        Told(page: scripts, words: "# KiB of text each", file: message, constant: "source", unit: 1024),
        Told(page: scripts, words: "a file name of # bytes", file: message, constant: "name"),
        Told(page: scripts, words: "memory of Lua | # MiB", file: host, constant: "limits_memory", unit: 1 << 20),
        Told(page: scripts, words: "and so on up to # min", file: restarts, constant: "longestRest", unit: 60),
        Told(page: scripts, words: "and after # minutes without", file: restarts, constant: "peace", unit: 60),
        Told(
            page: scripts, words: "for `explain` | # MiB a day", file: "Controller/Automation/Past/TraceBudget.swift",
            constant: "bytes", unit: 1 << 20),
        Told(
            page: scripts, words: "and nobody reads | #", file: "Controller/Daemon/RecordBuffer.swift",
            constant: "detailLimit"),
        Told(page: rules, words: "of a file  # MiB", file: ruleFile, constant: "bytes", unit: 1 << 20),
        Told(page: rules, words: "MiB, # rules", file: ruleFile, constant: "rules"),
        Told(page: rules, words: "rules, # entries in a list", file: ruleFile, constant: "entries"),
        Told(page: rules, words: "lists and mappings # deep", file: ruleFile, constant: "depth"),
        Told(page: rules, words: "deep, # values", file: ruleFile, constant: "values"),
        Told(page: rules, words: "notification's title # bytes", file: ruleFile, constant: "titleBytes"),
        Told(page: rules, words: "its text #,", file: ruleFile, constant: "noteBytes"),
        Told(page: rules, words: "web hook's body # and", file: ruleFile, constant: "bodyBytes"),
        Told(page: rules, words: "its address #,", file: ruleFile, constant: "urlBytes"),
        Told(page: rules, words: "an argument of a program #,", file: ruleFile, constant: "argumentBytes"),
        Told(page: rules, words: "a cron schedule #.", file: ruleFile, constant: "cronBytes"),
        Told(page: rules, words: "the first # errors", file: ruleFile, constant: "faults"),
        Told(
            page: rules, words: "at most # warnings", file: "Controller/Automation/Check/RuleCheck.swift",
            constant: "warningLimit"),
        Told(
            page: rules, words: "at most # files", file: "Controller/Daemon/RuleFileCache.swift",
            constant: "maximumFiles"),
        Told(page: rules, words: "says nothing for more than # s", file: engine, constant: "readingGap"),
        Told(page: rules, words: "that is more than # seconds old", file: engine, constant: "maximumAge"),
    ]

    static func check(_ tree: SourceTree) -> [Violation] { check(tree, told) }

    static func check(_ tree: SourceTree, _ told: [Told]) -> [Violation] {
        told.compactMap { told in
            guard let page = tree.files.first(where: { $0.path == told.page }),
                let file = tree.files.first(where: { $0.path == told.file })
            else { return nil }
            guard let value = value(of: told.constant, in: file.text) else {
                return Violation(path: file.path, line: 1, reason: "\(told.constant) has no number")
            }
            let number = value / told.unit
            let ways = ["\(number)", grouped(number)].map { told.words.replacing("#", with: $0) }
            // The text may continue on the next line.
            let text = page.text.replacing("\n", with: " ")
            guard value % told.unit != 0 || !ways.contains(where: text.contains) else { return nil }
            return Violation(
                path: page.path, line: 1,
                reason: "the page differs from \(told.file) (\(told.constant)): \(ways[0])")
        }
    }

    /// Formats 16384 as 16,384.
    private static func grouped(_ number: Int) -> String {
        let digits = Array("\(number)")
        return digits.enumerated().map { index, digit in
            let left = digits.count - index
            return index > 0 && left % 3 == 0 ? ",\(digit)" : "\(digit)"
        }.joined()
    }

    /// Parses the value of `NAME = 64 << 10` or `NAME = Duration.seconds(366 * 86_400)`. Further text may follow. Times
    /// are in seconds.
    private static func value(of name: String, in text: String) -> Int? {
        let assignment = try? Regex(
            "\\b\(name) = (?:Duration\\.seconds\\()?([0-9_]+)(?: (<<|\\*) ([0-9_]+))?",
            as: (
                Substring, Substring, Substring?, Substring?
            ).self)
        guard let assignment, let found = text.firstMatch(of: assignment)?.output else { return nil }
        func number(_ text: Substring?) -> Int? { text.flatMap { Int($0.filter { $0 != "_" }) } }
        guard let first = number(found.1) else { return nil }
        guard let second = number(found.3) else { return first }
        return found.2 == "<<" ? first << second : first * second
    }
}
