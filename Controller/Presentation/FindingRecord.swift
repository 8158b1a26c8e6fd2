public import Doctor

/// One line of `plugctl doctor --json`.
public struct FindingRecord: Encodable, Equatable, Sendable {
    /// The severity: ok, warning or problem.
    public var level: String
    /// The examined part: interface, multicast, port, service, clock, controller, plug or sleep.
    public var subject: String
    /// The interface or plug; empty if the subject is unique.
    public var about: String
    /// The observation in words.
    public var what: String
    /// The cause or the consequence of the observation, if the finding states one.
    public var why: String?
    /// The hint, if there is one.
    public var next: String?

    /// Creates the record of a finding.
    public init(_ finding: Finding) {
        level = finding.level.rawValue
        subject = finding.subject.rawValue
        about = finding.about
        what = finding.what
        why = finding.why
        next = finding.next
    }

    /// Text for the user: the finding, then its reason and hint, indented.
    public var lines: [String] {
        let mark = level + String(repeating: " ", count: max(0, 9 - level.count))
        let subjects = about.isEmpty ? subject : "\(subject) \(about)"
        let rest = [why.map { "why:  \($0)" }, next.map { "hint: \($0)" }].compactMap(\.self)
        return ["\(mark)\(subjects): \(what)"] + rest.map { "         \($0)" }
    }
}
