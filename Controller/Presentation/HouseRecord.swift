/// The current state of the whole house: the daemon's answer to the first request of a page or a command.
public struct HouseRecord: Codable, Hashable, Sendable {
    /// The time in ISO 8601, UTC, milliseconds.
    public var at: String
    /// The plugs in the order of their names.
    public var plugs: [PlugRecord]
    /// The rules in the order of their files.
    public var rules: [RuleStateRecord]
    /// The rule files with errors.
    public var ruleFaults: [RuleFaultRecord]
    /// The address of the daemon's page for a browser; omitted if the daemon serves none.
    public var dashboard: String?
    /// The daemon's time zone for hours, days and months: a name such as `Europe/Berlin`. If the name is unknown, it is
    /// the offset from UTC at `at`, such as `+01:00`.
    public var timeZone: String?

    /// Creates a record without an address and a time zone.
    public init(
        at: String, plugs: [PlugRecord], rules: [RuleStateRecord], ruleFaults: [RuleFaultRecord] = []
    ) {
        self.ruleFaults = ruleFaults
        self.at = at
        self.plugs = plugs
        self.rules = rules
    }
}

/// An active rule, its state and its latest firing.
public struct RuleStateRecord: Codable, Hashable, Sendable {
    /// The rule's name.
    public var rule: String
    /// The triggers in words, one line each.
    public var when: [String]
    /// The conditions in words, one line each.
    public var conditions: [String]
    /// The actions in words, one line each.
    public var actions: [String]
    /// The plugs in the rule; omitted if they were not determined.
    public var plugs: [RulePlugRecord]?
    /// The number of firings since the daemon's start.
    public var firings: Int
    /// The time of the last firing, even before the daemon's start; omitted if the rule has not fired in the last 366
    /// days.
    public var lastFiring: String?
    /// The cause of the last firing.
    public var lastCause: String?
    /// The time of the last firing that was held back since the daemon's start.
    public var lastHeldBack: String?
    /// The reason why that firing was held back.
    public var heldBackBecause: String?
    /// The time of the last near miss since the daemon's start: the rule's trigger was met, but not for long enough.
    public var lastNearMiss: String?
    /// The description of the near miss.
    public var nearMissBecause: String?
    /// False if the user disabled the rule. Its firings are then held back.
    public var enabled: Bool
    /// The number of firings whose actions are waiting.
    public var running: Int
    /// The reason why the file's current content is not active; omitted if it is.
    public var fault: String?
    /// The script whose function the rule calls; omitted for a rule of a YAML file.
    public var script: String?
    /// The reason why the script's process ended; omitted while it runs.
    public var scriptFault: String?
    /// The time of the script's next start; omitted while the script runs, and if it starts only after a change of its
    /// file.
    public var scriptStarts: String?
    /// The time of the last failed call since the daemon's start.
    public var lastFailure: String?
    /// The reason of the failure.
    public var failedBecause: String?

    /// Creates the record of an enabled rule that has not fired.
    public init(rule: String, when: [String], conditions: [String], actions: [String]) {
        enabled = true
        running = 0
        self.rule = rule
        self.when = when
        self.conditions = conditions
        self.actions = actions
        firings = 0
    }

    /// The line number in the name of a script's unnamed function. After an edit, the line may contain a different
    /// function.
    public var lineOfScript: Int? {
        guard let script, rule.hasPrefix("\(script):") else { return nil }
        return Int(rule.dropFirst(script.count + 1).prefix { ("0"..."9").contains($0) })
    }
}

/// A plug in a rule.
public struct RulePlugRecord: Codable, Hashable, Sendable {
    /// The name in the rule's file.
    public var written: String
    /// The id of the plug with this name; omitted if no plug has had the name.
    public var id: String?
    /// The plug's current name.
    public var name: String?

    /// Creates a record.
    public init(written: String, id: String?, name: String?) {
        self.written = written
        self.id = id
        self.name = name
    }
}

/// A rule file with errors. Its last valid version stays active, if there is one.
public struct RuleFaultRecord: Codable, Hashable, Sendable {
    /// The path of the file.
    public var file: String
    /// The errors with their positions, over several lines.
    public var words: String
    /// The active rules of its last valid version.
    public var rules: [String]

    /// Creates a record.
    public init(file: String, words: String, rules: [String]) {
        self.file = file
        self.words = words
        self.rules = rules
    }
}

/// All rules after a change.
public struct RuleSetRecord: Codable, Hashable, Sendable {
    /// The rules in the order of their files.
    public var rules: [RuleStateRecord]
    /// The rule files with errors.
    public var faults: [RuleFaultRecord]

    /// Creates a record.
    public init(rules: [RuleStateRecord], faults: [RuleFaultRecord]) {
        self.rules = rules
        self.faults = faults
    }
}

/// The answer to a request to run a rule: the firing's id, 32 hexadecimal digits.
public struct RuleFiredRecord: Codable, Hashable, Sendable {
    /// The id of the firing.
    public var id: String

    /// Creates a record.
    public init(id: String) { self.id = id }
}

/// A firing of a rule.
public struct FiringRecord: Codable, Hashable, Sendable {
    /// The time in ISO 8601, UTC, milliseconds.
    public var at: String
    /// The rule's name.
    public var rule: String
    /// The plug whose event fired the rule; omitted if the cause has no plug, and if the plug is no longer known.
    public var plug: String?
    /// The cause in words.
    public var why: String

    /// Creates a record.
    public init(at: String, rule: String, plug: String?, why: String) {
        self.at = at
        self.rule = rule
        self.plug = plug
        self.why = why
    }
}

/// An error response of the daemon's API.
public struct FaultRecord: Codable, Hashable, Sendable, Error {
    /// The message.
    public var error: String
    /// The hint for the user.
    public var hint: String?

    /// Creates a record.
    public init(_ error: String, hint: String? = nil) {
        self.error = error
        self.hint = hint
    }
}
