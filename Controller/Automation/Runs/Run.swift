import PlugModel
import ProtocolCore
import RuleModel

/// A firing whose actions are not finished.
struct Run: Sendable {
    enum Wait: Hashable, Sendable {
        /// Waits for its turn in the rule's queue.
        case turn
        /// Waits until a time.
        case time(Instant)
        /// Waits for a condition, at most until this time.
        case condition(Condition, until: Instant, RuleAction.Timeout)
    }

    /// Numbers ascend in the order of the start.
    let number: Int
    private(set) var rule: Int
    let firing: Firing
    /// The place of the waiting action. Zero for a run in the queue.
    let next: Int
    let wait: Wait
    /// The time until which a run of an earlier process waits for plugs that are not present yet; nil if it does not
    /// wait for plugs.
    private(set) var plugsUntil: Instant?
    /// True for a run of an earlier process that has not continued yet.
    private(set) var isRestored: Bool

    init(number: Int, rule: Int, firing: Firing, next: Int, wait: Wait, isRestored: Bool = false) {
        (self.number, self.rule, self.firing, self.next) = (number, rule, firing, next)
        (self.wait, self.isRestored) = (wait, isRestored)
    }

    /// The next time at which the run is checked; nil if only events can resume it.
    var deadline: Instant? {
        switch wait {
        case .turn: plugsUntil
        case .time(let until), .condition(_, let until, _): plugsUntil ?? until
        }
    }

    var until: Instant? {
        switch wait {
        case .turn: nil
        case .time(let until), .condition(_, let until, _): until
        }
    }

    mutating func move(to rule: Int) { self.rule = rule }
    mutating func holdForPlugs(until: Instant) { plugsUntil = until }
    mutating func release() { (isRestored, plugsUntil) = (false, nil) }

    var condition: Condition? {
        switch wait {
        case .turn, .time: nil
        case .condition(let condition, _, _): condition
        }
    }
}

extension Condition {
    /// True if the condition can change without an event, by the passage of time.
    var isTimed: Bool {
        switch self {
        case .time, .weekdays: true
        case .relay, .level, .activePower, .present: false
        case .all(let parts), .any(let parts): parts.contains(where: \.isTimed)
        case .not(let part): part.isTimed
        }
    }
}
