import PlugModel
import ProtocolCore

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
    var rule: Int
    let firing: Firing
    /// The place of the waiting action. Zero for a run in the queue.
    var next: Int
    var wait: Wait
    /// The time until which a run of an earlier process waits for plugs that are not present yet; nil if it does not
    /// wait for plugs.
    var plugsUntil: Instant?
    var isRestored = false

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
