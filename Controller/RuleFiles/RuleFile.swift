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
/// `when`, `if` and `then` hold one entry or a list of them. Triggers: `active power` with `rises above` or `falls below`,
/// and optionally `for` and `hysteresis`; `button` with `pressed` (or `single`), `double`, `long`. Conditions: `time` with
/// `after` and `before`; `plug` with `relay: on` or `off`. Actions: `turn on`, `turn off`, `toggle` with a plug or a list of
/// plugs; `dim` with `plug`, `to` and optionally `over`. A rule may have a `cooldown`.
public struct RuleFile: Hashable, Sendable {
    /// What error messages call the file.
    public var name: String
    /// In the order of the file; their names differ from each other.
    public var rules: [Rule]

    /// Reads the whole file, or throws everything that is wrong with it. A syntax error of YAML hides what comes after it.
    public init(name: String, text: String) throws(RuleFileError) {
        let source = SourceText(text)
        var reader = RuleReader()
        do {
            rules = reader.rules(of: try YAMLTree.read(source))
        } catch {
            reader.report(error)
            rules = []
        }
        guard reader.faults.isEmpty else { throw RuleFileError(reader.faults, in: source, file: name) }
        self.name = name
    }
}

/// What a rule file may have at most. It stops a hostile or broken file from taking the controller's time and memory.
enum RuleFileLimits {
    /// Bytes of UTF-8.
    static let bytes = 1 << 20
    /// Lists and mappings inside each other; rules need six.
    static let depth = 16
    /// Values after every alias has been replaced by what it stands for.
    static let values = 100_000
    static let rules = 1000
    /// Entries of one list: triggers, conditions, actions or plugs of one rule.
    static let entries = 64
    /// Bytes of a plug's name, which is a DNS label (RFC 6763, section 4.1.1), and of a rule's name.
    static let nameBytes = 63
    /// Errors reported of one file; the rest is counted.
    static let faults = 20
}
