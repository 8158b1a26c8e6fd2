/// What became of one edge that met a rule, so that a person can be told why it did what it did, or did nothing. It is kept with the
/// history as JSON; times are milliseconds since 1970.
public struct RuleTrace: Codable, Hashable, Sendable {
    public enum Outcome: String, Codable, Hashable, Sendable {
        case fired, heldBack, nearMiss
    }

    public struct ConditionResult: Codable, Hashable, Sendable {
        public var condition: String
        public var held: Bool

        public init(condition: String, held: Bool) {
            self.condition = condition
            self.held = held
        }
    }

    /// Something that was done of it, or came back.
    public struct Step: Codable, Hashable, Sendable {
        public var at: Int64
        /// In words: `turn off Ceiling Light`, `waits`, `done`.
        public var what: String
        /// Of a command or an effect: its id, as 32 hexadecimal digits.
        public var id: String?
        public var plug: String?
        /// Of a command: when the plug, or the outside, answered, and what; nil while it has not.
        public var answered: Int64?
        public var outcome: String?

        public init(at: Int64, what: String, id: String? = nil, plug: String? = nil) {
            self.at = at
            self.what = what
            self.id = id
            self.plug = plug
        }

        /// What it asked for was not answered yet.
        public var isOpen: Bool { id != nil && outcome == nil }
    }

    /// The firing's, as 32 hexadecimal digits; made up of rule and time for a near miss.
    public var id: String
    public var rule: String
    public var at: Int64
    public var outcome: Outcome
    /// What happened, in words.
    public var cause: String
    /// The plug whose edge it was, by name.
    public var plug: String?
    /// W or Wh.
    public var value: Double?
    /// When the threshold was crossed, and so the dwell began.
    public var since: Int64?
    /// Of one that did not fire: why, in words.
    public var why: String?
    public var conditions: [ConditionResult] = []
    /// In the order of time, ``stepLimit`` at most.
    public var steps: [Step] = []
    /// More of them than are kept.
    public var omitted: Int?
    /// Of actions that waited: when the last was done, or given up.
    public var finished: Int64?
    /// Actions of it wait still.
    public var isWaiting: Bool?
    /// Who told it did not know its beginning: what came before its first step.
    public var isPart: Bool?

    /// A rule has at most 64 actions, of at most 64 plugs each; who commands so many is told of the first ones.
    public static let stepLimit = 200

    public init(id: String, rule: String, at: Int64, outcome: Outcome, cause: String) {
        self.id = id
        self.rule = rule
        self.at = at
        self.outcome = outcome
        self.cause = cause
    }

    /// Nothing is known of which more could come.
    var isSettled: Bool { isWaiting != true && !steps.contains(where: \.isOpen) }
}
