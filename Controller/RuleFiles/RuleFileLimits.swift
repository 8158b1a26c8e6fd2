/// The limits of a rule file. They stop a hostile or broken file from exhausting the controller's time and memory.
enum RuleFileLimits {
    /// The maximum size of a file in bytes of UTF-8.
    static let bytes = 1 << 20
    /// The maximum nesting depth of lists and mappings. A condition in a list of `all` or `any` takes two levels.
    static let depth = 16
    /// The maximum number of values after each alias has been replaced by its anchor's value.
    static let values = 100_000
    static let rules = 1000
    /// The maximum number of entries in one list: triggers, conditions, actions or plugs of one rule, arguments of one
    /// command.
    static let entries = 64
    /// The maximum size in bytes of a plug's name, which is a DNS label (RFC 6763 section 4.1.1), and of a rule's name.
    static let nameBytes = 63
    /// The maximum sizes in bytes of a notification's title and text, and of a web hook's body. All are stored before
    /// they are sent.
    static let titleBytes = 200
    static let noteBytes = 2000
    static let bodyBytes = 4000
    /// The maximum size in bytes of a program's name or of one of its arguments.
    static let argumentBytes = 1000
    /// The maximum size of a URL in bytes. Many servers reject longer ones.
    static let urlBytes = 2000
    static let cronBytes = 200
    /// The maximum number of mistakes that are reported per file. The others are counted.
    static let faults = 20
}
