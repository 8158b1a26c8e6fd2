/// The whole house as it is now: the first thing that a page or a command asks the daemon for.
public struct HouseRecord: Codable, Hashable, Sendable {
    /// ISO 8601, UTC, milliseconds.
    public var at: String
    /// In the order of their names.
    public var plugs: [PlugRecord]
    /// In the order of their files.
    public var rules: [RuleStateRecord]
    /// Of rule files that cannot be read.
    public var ruleFaults: [RuleFaultRecord]
    /// Where the daemon's page is, as a browser wants it; left out where it serves none.
    public var dashboard: String?

    public init(
        at: String, plugs: [PlugRecord], rules: [RuleStateRecord], ruleFaults: [RuleFaultRecord] = []
    ) {
        self.ruleFaults = ruleFaults
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
    /// The plugs that it names; left out where nobody looked.
    public var plugs: [RulePlugRecord]?
    /// Since the daemon's start.
    public var firings: Int
    /// When it fired last and why, also where that was before the daemon's start; left out where it never did.
    public var lastFiring: String?
    public var lastCause: String?
    /// When it was held back last since the daemon's start, and why.
    public var lastHeldBack: String?
    public var heldBackBecause: String?
    /// When its trigger was met last since the daemon's start, and went back before its time, and how.
    public var lastNearMiss: String?
    public var nearMissBecause: String?
    /// False where a person turned it off: it is held back.
    public var enabled: Bool
    /// Firings whose actions wait for something.
    public var running: Int
    /// Why what its file says now is not what runs; left out where it is.
    public var fault: String?
    /// Of a script's function: the script's name.
    public var script: String?
    /// Why its process ended last, while none runs; left out while one does.
    public var scriptFault: String?
    /// When it is started again; left out while it runs, and where it is not before its file changes.
    public var scriptStarts: String?
    /// When a call of it failed last since the daemon's start, and why.
    public var lastFailure: String?
    public var failedBecause: String?

    public init(rule: String, when: [String], conditions: [String], actions: [String]) {
        enabled = true
        running = 0
        self.rule = rule
        self.when = when
        self.conditions = conditions
        self.actions = actions
        firings = 0
    }

    /// Of a script's function without a name of its own: the line that it is called after, where an edit may put another one.
    public var lineOfScript: Int? {
        guard let script, rule.hasPrefix("\(script):") else { return nil }
        return Int(rule.dropFirst(script.count + 1).prefix { ("0"..."9").contains($0) })
    }
}

/// A plug that a rule names.
public struct RulePlugRecord: Codable, Hashable, Sendable {
    /// As the rule has it.
    public var written: String
    /// The id of the plug that the name means; left out while no plug of that name has been there.
    public var id: String?
    /// What this plug is called now.
    public var name: String?

    public init(written: String, id: String?, name: String?) {
        self.written = written
        self.id = id
        self.name = name
    }
}

/// A rule file that cannot be read: what ran of it goes on.
public struct RuleFaultRecord: Codable, Hashable, Sendable {
    /// Its path.
    public var file: String
    /// What is wrong with it and where, over several lines.
    public var words: String
    /// The rules of its last good version, which go on.
    public var rules: [String]

    public init(file: String, words: String, rules: [String]) {
        self.file = file
        self.words = words
        self.rules = rules
    }
}

/// All rules, after some changed, came or went.
public struct RuleSetRecord: Codable, Hashable, Sendable {
    public var rules: [RuleStateRecord]
    public var faults: [RuleFaultRecord]

    public init(rules: [RuleStateRecord], faults: [RuleFaultRecord]) {
        self.rules = rules
        self.faults = faults
    }
}

/// A rule that a person ran: the firing's id, 32 hexadecimal digits.
public struct RuleFiredRecord: Codable, Hashable, Sendable {
    public var id: String

    public init(id: String) { self.id = id }
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
