import ProtocolCore
public import RuleModel

/// Converts a script's declarations and answers to rules and actions with the grammar of rule files, so that both have
/// the same meaning and the same error messages.
public struct ScriptRules: Sendable {
    /// The name of the script; the names of its rules begin with it.
    public let name: String
    private let source: SourceText

    /// - Parameter source: the text of the script, for the lines that errors show.
    public init(name: String, source: String) {
        self.name = name
        self.source = SourceText(source)
    }

    /// One call of `on` in a script, as the script's host sent it.
    public struct Declaration: Sendable {
        /// The line of the call, from 1.
        public var line: Int
        /// The entries of the declaration: `when` and its settings.
        public var entries: [JSONValue.Entry]

        /// Creates a declaration.
        public init(line: Int, entries: [JSONValue.Entry]) {
            self.line = line
            self.entries = entries
        }
    }

    /// Returns the rule of each declaration, in their order, or throws all mistakes in them.
    ///
    /// A rule is named `SCRIPT:NAME`, or `SCRIPT:LINE` if it has no name. A second rule with the same name or line (for
    /// example from a loop) is named `SCRIPT:NAME.2` or `SCRIPT:LINE.2`.
    public func rules(of declarations: [Declaration]) throws(RuleFileError) -> [Rule] {
        var reader = RuleReader()
        if declarations.count > ScriptLimits.handlers {
            reader.report(
                place(declarations[ScriptLimits.handlers].line),
                "a script may call on(...), at(...) and cron(...) at most \(ScriptLimits.handlers) times in total",
                hint: "split it into two scripts, or use one function that checks event.plug")
        }
        let grammar = ScriptGrammar.declaration(of: name)
        var rules: [Rule] = []
        var labels: Set<String> = []
        for (index, declaration) in declarations.prefix(ScriptLimits.handlers).enumerated() {
            let read: ScriptGrammar.Declaration?
            do throws(Fault) {
                read = grammar.read(
                    &reader, try YAMLTree(.object(declaration.entries), at: place(declaration.line)))
            } catch {
                reader.report(error)
                continue
            }
            guard let read else { continue }
            var rule = read.settings
            let label = rule.name.isEmpty ? "\(declaration.line)" : rule.name
            var (unique, count) = (label, 1)
            while !labels.insert(unique).inserted {
                count += 1
                unique = "\(label).\(count)"
            }
            rule.name = "\(name):\(unique)"
            rule.triggers = read.triggers
            rule.actions = [.call(ScriptHandler(script: name, index: index))]
            rules.append(rule)
        }
        guard reader.faults.isEmpty else { throw RuleFileError(reader.faults, in: source, file: name) }
        return rules
    }

    /// Checks that the source has no character that changes the display order of text.
    ///
    /// - Throws: `RuleFileError` with the place of the first such character.
    public func checkOrder() throws(RuleFileError) {
        guard let place = source.firstReordering else { return }
        let fault = Fault(
            place, "this character makes the text after it appear in another order than it is stored", hint: "delete it"
        )
        throw RuleFileError([fault], in: source, file: name)
    }

    /// Returns an error that the script's host reported, with its place in the source.
    public func refusal(line: Int, message: String, hint: String?) -> RuleFileError {
        RuleFileError([Fault(place(line), message, hint: hint)], in: source, file: name)
    }

    /// Returns the start of the text in a line. The host may send any number, so numbers below 1 become 1.
    private func place(_ line: Int) -> Place {
        let line = max(1, line)
        let indent = source.line(line).unicodeScalars.prefix { $0 == " " || $0 == "\t" }.count
        return Place(line: line, column: indent + 1)
    }
}

extension ScriptRules {
    /// The reason why a script's answer was refused. No part of the answer is carried out.
    public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// A description of the mistake, without a full stop.
        public var message: String
        /// A hint about what to change; nil for no hint.
        public var hint: String?

        /// The message and the hint on one line.
        public var description: String { message + (hint.map { " (hint: \($0))" } ?? "") }
    }

    /// Parses the actions of a script's answer: entries as in a rule's `then`, without those that wait.
    ///
    /// - Throws: `Refusal` for the first mistake, or if there are too many actions.
    public static func actions(of then: [JSONValue]) throws(Refusal) -> [RuleAction] {
        guard then.count <= ScriptLimits.actions else {
            throw Refusal(
                message: "more than \(ScriptLimits.actions) actions in one call",
                hint: "check for an endless loop, or name several plugs in one action")
        }
        var reader = RuleReader()
        var read: [RuleAction] = []
        do throws(Fault) {
            for entry in then {
                let tree = try YAMLTree(entry, at: Place(line: 1, column: 1))
                if let action = ActionGrammar.immediate.read(&reader, tree) { read.append(action) }
                if let fault = reader.faults.first { throw fault }
            }
        } catch {
            throw Refusal(message: error.message, hint: error.hint)
        }
        return read
    }

    /// Parses a change of a timer. The name must be one that `on("timer", NAME, ...)` can have.
    ///
    /// - Parameter seconds: the time until the timer ends, from 0 to 31,622,400 s (366 days); nil stops the timer.
    public static func timer(_ name: String, after seconds: Double?) throws(Refusal) -> ScriptAnswer.TimerChange {
        var reader = RuleReader()
        let tree = YAMLTree(place: Place(line: 1, column: 1), value: .scalar(name), size: 1)
        _ = TriggerGrammar.timerName.read(&reader, tree, "timer")
        if let fault = reader.faults.first { throw Refusal(message: fault.message, hint: fault.hint) }
        guard let seconds else { return ScriptAnswer.TimerChange(name: name, delay: nil) }
        guard (0...ScriptLimits.longestTimer.inSeconds).contains(seconds) else {
            throw Refusal(
                message: "the time of the timer '\(name)' is out of range",
                hint: "use 0 to 31622400 seconds (366 days)")
        }
        return ScriptAnswer.TimerChange(name: name, delay: .nanoseconds(Int64((seconds * 1e9).rounded())))
    }
}
