extension RuleEngine {
    /// The maximum number of rules in a chain of rules that fire each other within one event, and the maximum number of
    /// all firings that other rules cause within one event. A firing beyond the first limit is held back, and a firing
    /// beyond the second limit is dropped, so that a loop ends within one call.
    static let maximumChain = 8
    static let maximumChained = 256
    /// The maximum number of unfinished firings, per rule and in total. A rule in queued mode may have this number of
    /// queued firings and one in progress. Stops rules that fire faster than they finish from filling the memory.
    static let maximumRunsOfRule = 64
    static let maximumRuns = 1024
    /// A run whose `wait` ended longer ago than this, while no process ran, is cancelled. A wait for a condition has no
    /// such limit.
    static let longestLate = Duration.seconds(86_400)
    /// How long a run of an earlier process waits for plugs that have not appeared again.
    package static let reunion = Duration.seconds(60)
    /// The interval at which a condition on the time is evaluated while a run waits for it.
    static let conditionInterval = Duration.seconds(1)
    /// The minimum interval between reported near misses of one rule. Noise at a threshold would otherwise produce
    /// thousands.
    static let missInterval = Duration.seconds(10)
}
