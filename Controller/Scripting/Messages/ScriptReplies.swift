import JSONText
import RuleFiles
public import RuleModel

/// Interprets the replies of a host. Any line is either interpreted within the limits or rejected with a reason.
public enum ScriptReplies {
    /// Interprets the reply to `load`.
    ///
    /// - Parameter line: the reply without its line feed.
    public static func script(name: String, source: String, line: [UInt8]) throws(ScriptFault) -> Script {
        let grammar = ScriptRules(name: name, source: source)
        switch try reply(line) {
        case .loaded(let declarations, let log):
            do throws(RuleFileError) {
                return Script(
                    name: name, source: source, rules: try grammar.rules(of: declarations),
                    lines: declarations.map(\.line), log: log)
            } catch {
                throw .refused(error)
            }
        case .failed(let words, log: _):
            let error = ScriptError(words, of: name)
            throw .refused(grammar.refusal(line: error.line ?? 1, message: error.message, hint: error.hint))
        case .done: throw .ended(.garbled("'done' before a call"))
        }
    }

    /// Interprets the reply to `call`.
    ///
    /// - Parameter line: the reply without its line feed.
    public static func outcome(of line: [UInt8]) throws(ScriptFault) -> ScriptOutcome { try judged(line).outcome }

    /// - Returns: the outcome, and true if the answer was refused although the host assumes that the answer's state is
    ///   stored.
    static func judged(_ line: [UInt8]) throws(ScriptFault) -> (outcome: ScriptOutcome, isRefused: Bool) {
        switch try reply(line) {
        case .done(let answer):
            let outcome = outcome(of: answer)
            if case .answered = outcome { return (outcome, false) }
            return (outcome, answer.state != nil)
        case .failed(let words, let log): return (.failed(ScriptError.flat(words), log: log), false)
        case .loaded: throw .ended(.garbled("'loaded' after a call"))
        }
    }

    private static func reply(_ line: [UInt8]) throws(ScriptFault) -> HostReply {
        do throws(JSONError) {
            return try HostReply(line: line)
        } catch {
            throw .ended(.garbled(error.description))
        }
    }

    /// Converts an answer. If any part is not valid, the whole answer fails.
    private static func outcome(of answer: HostReply.Answer) -> ScriptOutcome {
        var done = ScriptAnswer()
        do throws(ScriptRules.Refusal) {
            done.actions = try ScriptRules.actions(of: answer.then)
            for timer in answer.timers { done.timers.append(try ScriptRules.timer(timer.name, after: timer.after)) }
        } catch {
            return .failed(error.description, log: answer.log)
        }
        if answer.timers.count > MessageLimits.timerChanges {
            return .failed("more than \(MessageLimits.timerChanges) timers started and stopped", log: answer.log)
        }
        if let state = answer.state, state.utf8.count > ScriptLimits.stateSize {
            return .failed(
                "'state' has \(state.utf8.count) bytes of JSON, but at most \(ScriptLimits.stateSize) are stored",
                log: answer.log)
        }
        (done.state, done.log) = (answer.state, answer.log)
        return .answered(done)
    }
}

/// An error of Lua, split into its parts: `television.lua:12: message`, and a hint on the next line.
struct ScriptError {
    private static let mark = "\nhint: "
    private static let silence = "it failed without an error message"

    var line: Int?
    var message: String
    var hint: String?

    init(_ words: String, of script: String) {
        let parts = words.split(separator: Self.mark, maxSplits: 1)
        message = parts.first.map(String.init) ?? words
        hint = parts.count == 2 ? String(parts[1]) : nil
        guard message.hasPrefix(script + ":") else { return }
        let rest = message.dropFirst(script.count + 1)
        let digits = rest.prefix { ("0"..."9").contains($0) }
        guard let number = Int(digits), rest.dropFirst(digits.count).hasPrefix(": ") else { return }
        line = number
        let words = rest.dropFirst(digits.count + 2)
        message = words.contains { !$0.isWhitespace } ? String(words) : Self.silence
    }

    /// The message and the hint on one line.
    static func flat(_ words: String) -> String {
        let lines = words.split(separator: mark, maxSplits: 1).map { $0.split(separator: "\n").joined(separator: " ") }
        switch lines.count {
        case 2: return "\(lines[0]) (hint: \(lines[1]))"
        case 1 where !lines[0].isEmpty: return lines[0]
        case _: return silence
        }
    }
}
