/// What a rule file may have at most. It stops a hostile or broken file from taking the controller's time and memory.
enum RuleFileLimits {
    /// Bytes of UTF-8.
    static let bytes = 1 << 20
    /// Lists and mappings inside each other; each condition within another takes two.
    static let depth = 16
    /// Values after every alias has been replaced by what it stands for.
    static let values = 100_000
    static let rules = 1000
    /// Entries of one list: triggers, conditions, actions or plugs of one rule, arguments of one command.
    static let entries = 64
    /// Bytes of a plug's name, which is a DNS label (RFC 6763, section 4.1.1), and of a rule's name.
    static let nameBytes = 63
    /// Bytes of a notification's title and of its text, and of what a web hook sends: they are stored before they are sent.
    static let titleBytes = 200
    static let noteBytes = 2000
    static let bodyBytes = 4000
    /// Bytes of a program's name or one of its arguments.
    static let argumentBytes = 1000
    /// Bytes of an address, which many servers take no more of.
    static let urlBytes = 2000
    static let cronBytes = 200
    /// Errors reported of one file; the rest is counted.
    static let faults = 20
}
