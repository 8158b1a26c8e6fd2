public import Automation

/// The rules of one file, read from text as a person wrote it.
///
/// ```yaml
/// - rule: Movie night
///   when:
///     plug: Television
///     active power: { rises above: 40 W, for: 3 s }
///   if:
///     time: { after: "17:00", before: "02:00" }
///   then:
///     - turn off: [Ceiling Light, Floor Lamp]
///     - turn on: Amplifier
/// ```
///
/// `when`, `if` and `then` hold one entry or a list of them.
///
/// - Triggers, beside `plug`: `active power` with `rises above`, `falls below` or `stays between`, and optionally `for` and
///   `hysteresis`; `active energy` with `exceeds` and `since`; `button`; `relay`; `connection` (lost, back) with `for`; `protection`;
///   `appliance` (started, finished) with `cycle`. Without a plug: `time` with `weekdays`; `cron`; `sun` with `offset` and `weekdays`;
///   `rule`.
/// - Conditions: `time` with `after` and `before`; `weekdays`; beside `plug`: `relay`, `level`, `active power`, `connection`; `all`,
///   `any`, `not`.
/// - Actions: `turn on`, `turn off`, `toggle`, `restore` with a plug or a list of them; `dim` with `plug`, `to` or `by`, `over`;
///   `wait`; `wait until` with `timeout` and `otherwise`; `notify`; `run`; `web hook`.
/// - Beside them: `cooldown`, `mode`, `limit`, `late`, `away`.
///
/// What each means and may be says the schema (``RuleSchema``), which comes from the same description as the readers.
public struct RuleFile: Hashable, Sendable {
    /// What error messages call the file.
    public var name: String
    /// In the order of the file; their names differ from each other.
    public let rules: [Rule]
    /// Of each of the rules.
    public let places: [RulePlaces]
    private let text: String

    /// Reads the whole file, or throws everything that is wrong with it. A syntax error of YAML hides what comes after it.
    public init(name: String, text: String) throws(RuleFileError) {
        let source = SourceText(text)
        var reader = RuleReader()
        var placed: [PlacedRule] = []
        do {
            placed = reader.rules(of: try YAMLTree.read(source))
        } catch {
            reader.report(error)
        }
        guard reader.faults.isEmpty else { throw RuleFileError(reader.faults, in: source, file: name) }
        self.name = name
        self.text = text
        rules = placed.map(\.rule)
        places = placed.map(\.places)
    }

    /// What was found in this file's rules, each with its place, in the order of the file.
    ///
    /// - Parameter first: the index, among the rules that were looked at, of this file's first rule. Findings of other files' rules are
    ///   left out.
    public func diagnostics(for findings: [RuleFinding], first: Int = 0) -> [Diagnostic] {
        let source = SourceText(text)
        let own = findings.compactMap { finding -> Diagnostic? in
            guard places.indices.contains(finding.rule - first) else { return nil }
            let place = places[finding.rule - first].place(of: finding.part, word: finding.word)
            return Diagnostic(
                file: name, place: place, message: finding.message, hint: finding.hint, line: source.line(place.line),
                severity: Diagnostic.Severity(finding.severity))
        }
        // Those of one place in the order in which they were found.
        return own.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }.map(\.element)
    }
}

extension Diagnostic.Severity {
    fileprivate init(_ severity: RuleFinding.Severity) {
        switch severity {
        case .error: self = .error
        case .warning: self = .warning
        }
    }
}
