/// The record of one edge that matched a rule, with the outcome and its reason. Stored with the history as JSON. Times
/// are milliseconds since 1970.
public struct RuleTrace: Codable, Hashable, Sendable {
    /// The outcome of an edge: the rule fired, was held back, or nearly fired.
    public enum Outcome: String, Codable, Hashable, Sendable {
        case fired, heldBack, nearMiss
    }

    /// The result of one condition of the rule.
    public struct ConditionResult: Codable, Hashable, Sendable {
        /// The condition in words.
        public var condition: String
        /// True if the condition held.
        public var held: Bool

        /// Creates a result.
        public init(condition: String, held: Bool) {
            self.condition = condition
            self.held = held
        }
    }

    /// A step of the firing: an action, a wait or an end.
    public struct Step: Codable, Hashable, Sendable {
        /// The time of the step.
        public var at: Int64
        /// The step in words: `turn off Ceiling Light` or `waits`.
        public var what: String
        /// The id of a command, call or effect, as 32 hexadecimal digits; nil for any other step.
        public var id: String?
        /// The name of the plug of a command; nil for a step without a plug.
        public var plug: String?
        /// The time of the answer to a command, call or effect; nil until it arrives.
        public var answered: Int64?
        /// The answer in words; nil until it arrives.
        public var outcome: String?

        /// Creates a step without an answer.
        public init(at: Int64, what: String, id: String? = nil, plug: String? = nil) {
            self.at = at
            self.what = what
            self.id = id
            self.plug = plug
        }

        /// True if the step waits for an answer.
        public var isOpen: Bool { id != nil && outcome == nil }
    }

    /// The firing's id, as 32 hexadecimal digits. The id of a near miss is a hash of rule, trigger, plug and time.
    public var id: String
    /// The rule's name.
    public var rule: String
    /// The time of the edge's evaluation.
    public var at: Int64
    /// The outcome of the edge for the rule.
    public var outcome: Outcome
    /// The edge in words.
    public var cause: String
    /// The announced name of the plug with the edge; nil if the cause has no plug.
    public var plug: String?
    /// The measured value of the cause: watts for power, Wh for energy. Nil if the cause has no value.
    public var value: Double?
    /// The time at which the threshold was crossed, the plug was lost or returned, or the appliance's cycle began or
    /// ended; nil for any other cause.
    public var since: Int64?
    /// The reason in words why the rule did not fire; nil if it fired.
    public var why: String?
    /// The results of the rule's conditions, in order.
    public var conditions: [ConditionResult] = []
    /// The steps in chronological order, at most ``stepLimit``.
    public var steps: [Step] = []
    /// The number of steps beyond the limit, which are not stored; nil without such steps.
    public var omitted: Int?
    /// If an action waited, the time at which the last action was done or the run was cancelled; nil until then.
    public var finished: Int64?
    /// True while actions of the firing wait, otherwise nil.
    public var isWaiting: Bool?
    /// True if the steps before the first one are missing, because the recorder did not see the start of the firing;
    /// otherwise nil.
    public var isPart: Bool?

    /// The maximum number of stored steps. ``omitted`` counts the further steps, for example of a rule with 64 actions
    /// of 64 plugs each.
    public static let stepLimit = 200

    /// Creates a trace without steps.
    public init(id: String, rule: String, at: Int64, outcome: Outcome, cause: String) {
        self.id = id
        self.rule = rule
        self.at = at
        self.outcome = outcome
        self.cause = cause
    }

    /// True if no action waits and no step lacks its answer.
    package var isSettled: Bool { isWaiting != true && !steps.contains(where: \.isOpen) }
}
