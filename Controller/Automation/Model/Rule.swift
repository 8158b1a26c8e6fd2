/// A rule as data: when one of the triggers happens and every condition holds, the actions are done in their order.
public struct Rule: Hashable, Sendable {
    /// What a person calls it. It is part of the ids of the rule's commands, so no two rules of an engine share it.
    public var name: String
    /// Edges, each of which alone is enough.
    public var triggers: [Trigger]
    /// Levels, all of which must hold in the moment of the edge.
    public var conditions: [Condition]
    public var actions: [RuleAction]
    /// So long after a firing no edge fires the rule again; zero for none.
    public var cooldown: Duration
    /// What becomes of an edge while an earlier firing's actions are not done.
    public var mode = RuleMode.single
    /// How often it may fire; nil takes ``RuleEngine/usualLimit``, which stops a loop, and none where every action is a call of a script:
    /// its commands are limited instead.
    public var limit: FiringLimit?
    /// An event that is older than this does not fire it. More than ``RuleEngine/maximumAge`` only where the rule asks for it.
    public var maximumAge = RuleEngine.maximumAge
    /// So long a command waits for a plug that is away, of which only the last is kept; nil: it is told and forgotten.
    public var remembersAway: Duration?

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

/// What becomes of an edge while the actions of an earlier firing are not done: some of them wait.
public enum RuleMode: Hashable, Sendable {
    /// It is held back.
    case single
    /// The earlier one is given up.
    case restart
    /// It fires when the earlier ones are done; of more than so many that wait it is held back.
    case queued(atMost: Int)
    /// It fires beside them; of more than so many at once it is held back.
    case parallel(atMost: Int)

    public static let usualCount = 10
}

/// So many firings within any span of this length.
public struct FiringLimit: Hashable, Sendable {
    public var count: Int
    public var span: Duration

    public init(_ count: Int, within span: Duration) {
        self.count = count
        self.span = span
    }
}
