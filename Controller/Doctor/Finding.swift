/// One thing that was looked at, and what came of it.
public struct Finding: Hashable, Sendable {
    public enum Level: String, Hashable, Sendable {
        case ok
        /// It works, and something may be missing or go wrong later.
        case warning
        /// Something that is wanted does not work.
        case problem
    }

    public enum Subject: String, Hashable, Sendable {
        case interface, multicast, port, service, clock, controller, plug
    }

    public var level: Level
    public var subject: Subject
    /// Which one of them: an interface, a plug; empty where there is only one.
    public var about: String
    /// What was found, about it.
    public var what: String
    /// What causes it, or what follows from it.
    public var why: String?
    /// What to do next; never nil for a problem.
    public var next: String?

    public init(
        _ level: Level, _ subject: Subject, _ about: String, _ what: String, why: String? = nil, next: String? = nil
    ) {
        precondition(level != .problem || next != nil, "whoever has a problem wants to know what to do")
        self.level = level
        self.subject = subject
        self.about = about
        self.what = what
        self.why = why
        self.next = next
    }

    /// About the only one of its kind.
    public init(_ level: Level, _ subject: Subject, _ what: String, why: String? = nil, next: String? = nil) {
        self.init(level, subject, "", what, why: why, next: next)
    }
}
