/// The whole house as it is now: the first thing that a page or a command asks the daemon for.
public struct HouseRecord: Codable, Hashable, Sendable {
    /// ISO 8601, UTC, milliseconds.
    public var at: String
    /// In the order of their names.
    public var plugs: [PlugRecord]
    /// In the order of their files.
    public var rules: [RuleStateRecord]
    /// Where the daemon's page is, as a browser wants it; left out where it serves none.
    public var dashboard: String?

    public init(at: String, plugs: [PlugRecord], rules: [RuleStateRecord]) {
        self.at = at
        self.plugs = plugs
        self.rules = rules
    }
}

/// A rule that runs, and what it did.
public struct RuleStateRecord: Codable, Hashable, Sendable {
    public var rule: String
    /// What sets it off, what must hold, and what it does, in words: a line each.
    public var when: [String]
    public var conditions: [String]
    public var actions: [String]
    /// Since the daemon's start.
    public var firings: Int
    /// When it fired last and why, also where that was before the daemon's start; left out where it never did.
    public var lastFiring: String?
    public var lastCause: String?
    /// When it was held back last since the daemon's start, and why.
    public var lastHeldBack: String?
    public var heldBackBecause: String?

    public init(rule: String, when: [String], conditions: [String], actions: [String]) {
        self.rule = rule
        self.when = when
        self.conditions = conditions
        self.actions = actions
        firings = 0
    }
}

/// A rule that fired.
public struct FiringRecord: Codable, Hashable, Sendable {
    /// ISO 8601, UTC, milliseconds.
    public var at: String
    public var rule: String
    /// The plug whose edge it was; left out where it is not known any more.
    public var plug: String?
    public var why: String

    public init(at: String, rule: String, plug: String?, why: String) {
        self.at = at
        self.rule = rule
        self.plug = plug
        self.why = why
    }
}

/// What went wrong, as every part of the daemon's API says it.
public struct FaultRecord: Codable, Hashable, Sendable, Error {
    public var error: String
    /// What to try next.
    public var hint: String?

    public init(_ error: String, hint: String? = nil) {
        self.error = error
        self.hint = hint
    }
}
