/// The result of one check.
public struct Finding: Hashable, Sendable {
    /// The severity of a finding.
    public enum Level: String, Hashable, Sendable {
        /// The subject works.
        case ok
        /// The subject works, but something may be missing or fail later.
        case warning
        /// A required subject does not work.
        case problem
    }

    /// The examined part.
    public enum Subject: String, Hashable, Sendable {
        case interface, multicast, port, domain, service, clock, controller, plug, sleep
    }

    /// The severity.
    public var level: Level
    /// The examined part.
    public var subject: Subject
    /// The interface or plug; empty if the subject is unique.
    public var about: String
    /// The observation.
    public var what: String
    /// The cause or consequence.
    public var why: String?
    /// The hint for the user; never nil for a problem.
    public var next: String?

    /// Creates a finding. A problem requires a hint.
    public init(
        _ level: Level, _ subject: Subject, _ about: String, _ what: String, why: String? = nil, next: String? = nil
    ) {
        precondition(level != .problem || next != nil, "a problem requires a hint")
        self.level = level
        self.subject = subject
        self.about = about
        self.what = what
        self.why = why
        self.next = next
    }

    /// Creates a finding about a unique subject.
    public init(_ level: Level, _ subject: Subject, _ what: String, why: String? = nil, next: String? = nil) {
        self.init(level, subject, "", what, why: why, next: next)
    }
}
