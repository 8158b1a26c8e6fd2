/// A rule as data. When a trigger fires and every condition holds, the actions run in order.
public struct Rule: Hashable, Sendable {
    /// The default of ``maximumAge``.
    public static let usualMaximumAge = Duration.seconds(5)

    /// The name that the user gave to the rule. The ids of the rule's commands are derived from this name, so rules of
    /// one engine have different names.
    public var name: String
    /// The triggers. An edge of any of these triggers fires the rule.
    public var triggers: [Trigger]
    /// The conditions. All must hold when the edge arrives.
    public var conditions: [Condition]
    /// The actions, in the order in which they run.
    public var actions: [RuleAction]
    /// The time after a firing in which no edge fires the rule; zero for none.
    public var cooldown: Duration
    /// The handling of an edge that arrives before an earlier firing has finished.
    public var mode = RuleMode.single
    /// The rate limit. Nil applies ``FiringLimit/usual``, which stops loops. If every action calls a script, nil
    /// means no limit, because ``ScriptLimits`` limits the script's commands instead.
    public var limit: FiringLimit?
    /// The age above which an event does not fire the rule. The default is ``usualMaximumAge``.
    public var maximumAge = Self.usualMaximumAge
    /// How long a command is stored for an absent plug. Only the last command per plug is stored. Nil reports the
    /// command as not sent and drops it.
    public var remembersAway: Duration?

    /// Creates a rule in single mode, with the default rate limit and maximum age.
    public init(
        name: String, triggers: [Trigger], conditions: [Condition] = [], actions: [RuleAction],
        cooldown: Duration = .zero
    ) {
        self.name = name
        self.triggers = triggers
        self.conditions = conditions
        self.actions = actions
        self.cooldown = cooldown
    }
}

extension Rule {
    /// The names of all plugs in the rule, as written. A name may be listed more than once.
    public var plugs: [String] {
        var plugs = triggers.compactMap(\.plug) + conditions.flatMap(\.plugs)
        for action in actions {
            plugs += action.plugs
            if case .waitUntil(let condition, _, _) = action { plugs += condition.plugs }
        }
        return plugs
    }

    /// The functions of scripts that the rule calls, in order.
    package var handlers: [ScriptHandler] {
        actions.compactMap { if case .call(let handler) = $0 { handler } else { nil } }
    }
}

/// The handling of an edge that arrives before an earlier firing has finished.
public enum RuleMode: Hashable, Sendable {
    /// Drops the edge. The trace reports it as held back.
    case single
    /// Cancels the earlier firing and starts the new one.
    case restart
    /// Starts after the earlier firings have finished. Drops the edge if this many firings wait already.
    case queued(atMost: Int)
    /// Starts at once, in parallel. Drops the edge if this many firings run already.
    case parallel(atMost: Int)

    /// The default of `atMost` in rule files.
    public static let usualCount = 10
}

/// The maximum number of firings within any span of a given length.
public struct FiringLimit: Hashable, Sendable {
    /// The limit of a rule without its own limit. Stops rules that fire each other endlessly.
    public static let usual = Self(60, within: .seconds(60))

    /// The number of firings that are allowed per span.
    public var count: Int
    /// The length of the span, which slides.
    public var span: Duration

    /// Creates a limit of `count` firings per `span`.
    public init(_ count: Int, within span: Duration) {
        self.count = count
        self.span = span
    }
}
