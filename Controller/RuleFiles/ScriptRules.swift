public import Automation
import ProtocolCore

/// What a script says, read by the grammar of rule files, so that both mean the same and are refused with the same words.
public struct ScriptRules: Sendable {
    /// The script's name, which its rules' names begin with.
    public let name: String
    private let source: SourceText

    /// - Parameter source: for the lines that errors show.
    public init(name: String, source: String) {
        self.name = name
        self.source = SourceText(source)
    }

    /// One `on` of a script as its host told it: `when` and what stands beside it.
    public struct Declaration: Sendable {
        /// From 1.
        public var line: Int
        public var entries: [JSONValue.Entry]

        public init(line: Int, entries: [JSONValue.Entry]) {
            self.line = line
            self.entries = entries
        }
    }

    /// The rule of each, in their order, or throws all that is wrong with them.
    ///
    /// A rule is called `SCRIPT:NAME`, or without a name of its own `SCRIPT:LINE`, as messages name places; the second of the same name
    /// or line, as a loop makes it, `SCRIPT:LINE.2`.
    public func rules(of declarations: [Declaration]) throws(RuleFileError) -> [Rule] {
        var reader = RuleReader()
        if declarations.count > ScriptLimits.handlers {
            reader.report(
                place(declarations[ScriptLimits.handlers].line),
                "a script has at most \(ScriptLimits.handlers) functions behind 'on'",
                hint: "make two scripts of it, or let one function look at event.plug")
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

    /// - Throws: where it holds a character that shows what follows in another order than it is read in.
    public func checkOrder() throws(RuleFileError) {
        guard let place = source.firstReordering else { return }
        let fault = Fault(
            place, "this character shows the text behind it in another order than it is read in", hint: "delete it")
        throw RuleFileError([fault], in: source, file: name)
    }

    /// What is wrong with the script where its host says so.
    public func refusal(line: Int, message: String, hint: String?) -> RuleFileError {
        RuleFileError([Fault(place(line), message, hint: hint)], in: source, file: name)
    }

    /// Where the text of a line begins. Any number is taken, as a host may tell any.
    private func place(_ line: Int) -> Place {
        let line = max(1, line)
        let indent = source.line(line).unicodeScalars.prefix { $0 == " " || $0 == "\t" }.count
        return Place(line: line, column: indent + 1)
    }
}

extension ScriptRules {
    /// What a function asked for and does not get: nothing else of the answer is done either.
    public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        public var message: String
        public var hint: String?

        /// On one line.
        public var description: String { message + (hint.map { " (hint: \($0))" } ?? "") }
    }

    /// Entries of a rule's `then`, none of which waits.
    public static func actions(of then: [JSONValue]) throws(Refusal) -> [RuleAction] {
        guard then.count <= ScriptLimits.actions else {
            throw Refusal(
                message: "more than \(ScriptLimits.actions) actions in one call",
                hint: "is it caught in a loop? Name several plugs in one")
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

    /// A timer that is started or stopped, by a name that `on("timer", NAME, ...)` can have too.
    ///
    /// - Parameter seconds: nil stops it.
    public static func timer(_ name: String, after seconds: Double?) throws(Refusal) -> ScriptAnswer.TimerChange {
        var reader = RuleReader()
        let tree = YAMLTree(place: Place(line: 1, column: 1), value: .scalar(name), size: 1)
        _ = TriggerGrammar.timerName.read(&reader, tree, "timer")
        if let fault = reader.faults.first { throw Refusal(message: fault.message, hint: fault.hint) }
        guard let seconds else { return ScriptAnswer.TimerChange(name: name, delay: nil) }
        guard (0...ScriptLimits.longestTimer.inSeconds).contains(seconds) else {
            throw Refusal(
                message: "the timer '\(name)' does not end", hint: "it runs for 0 to 31622400 seconds: 366 days")
        }
        return ScriptAnswer.TimerChange(name: name, delay: .nanoseconds(Int64((seconds * 1e9).rounded())))
    }
}
