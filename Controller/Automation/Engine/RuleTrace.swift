/// What became of one edge that met a rule, so that a person can be told why it did what it did, or did nothing. It is kept with the
/// history as JSON; times are milliseconds since 1970.
public struct RuleTrace: Codable, Hashable, Sendable {
    public enum Outcome: String, Codable, Hashable, Sendable {
        case fired, heldBack, nearMiss
    }

    public struct ConditionResult: Codable, Hashable, Sendable {
        public var condition: String
        public var held: Bool
    }

    /// Something that was done of it, or came back.
    public struct Step: Codable, Hashable, Sendable {
        public var at: Int64
        /// In words: `turn off Ceiling Light`, `waits`, `done`.
        public var what: String
        public var plug: String?
        /// Of a command: when the plug, or the outside, answered, and what; nil while it has not.
        public var answered: Int64?
        public var outcome: String?
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

    /// A rule has at most 64 actions, of at most 64 plugs each; who commands so many is told of the first ones.
    public static let stepLimit = 200
}
