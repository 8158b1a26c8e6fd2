public import RuleChecks
public import RuleModel

/// The rules of one file, parsed from YAML.
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
/// `when`, `if` and `then` hold one entry or a list.
///
/// - Triggers with `plug`: `active power` with `rises above`, `falls below` or `stays between`, and optionally `for`
///   and `hysteresis`; `active energy` with `exceeds` and `since`; `button`; `relay`; `connection` (lost, back) with
///   `for`; `protection`; `appliance` (started, finished, probably finished) with `cycle`. Without `plug`: `time` with `weekdays`; `cron`;
///   `sun` with `offset` and `weekdays`; `rule`.
/// - Conditions: `time` with `after` and `before`; `weekdays`; with `plug`: `relay`, `level`, `active power`,
///   `connection`; `all`, `any`, `not`.
/// - Actions: `turn on`, `turn off`, `toggle`, `restore` with a plug or a list of plugs; `turn on` also with `plug` and
///   `for`; `dim` with `plug`, `to` or `by`, `over`; `wait`; `wait until` with `timeout` and `otherwise`; `notify`;
///   `run`; `web hook`; `wake`.
/// - Settings: `cooldown`, `mode`, `limit`, `late`, `away`.
///
/// The schema (``RuleSchema``) states the meaning and the values of each key. It is generated from the description that
/// the readers use.
public struct RuleFile: Hashable, Sendable {
    /// The name of the file in error messages.
    public var name: String
    /// The rules in the order of the file. Their names are unique.
    public let rules: [Rule]
    /// The places of the parts of each rule, in the order of `rules`.
    public let places: [RulePlaces]
    private let text: String

    /// Reads the whole file, or throws its mistakes. If the YAML cannot be read, the error has only the first mistake
    /// of the YAML.
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

    /// Converts findings about this file's rules to diagnostics with places, in the order of the file.
    ///
    /// - Parameter first: the index of this file's first rule in the list of rules that was checked. Findings about
    ///   rules of other files are left out.
    public func diagnostics(for findings: [RuleFinding], first: Int = 0) -> [Diagnostic] {
        let source = SourceText(text)
        let own = findings.compactMap { finding -> Diagnostic? in
            guard places.indices.contains(finding.rule - first) else { return nil }
            let place = places[finding.rule - first].place(of: finding.part, word: finding.word)
            return Diagnostic(
                file: name, place: place, message: finding.message, hint: finding.hint, line: source.line(place.line),
                severity: Diagnostic.Severity(finding.severity))
        }
        // Findings at the same place keep their order.
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
