import PlugModel
import ProtocolCore

/// A firing whose actions are not done.
struct Run: Sendable {
    enum Wait: Hashable, Sendable {
        /// For its turn in the rule's queue.
        case turn
        /// For a time.
        case time(Instant)
        /// For a condition, at most until then.
        case condition(Condition, until: Instant, RuleAction.Timeout)
    }

    /// In the order in which they began.
    let number: Int
    var rule: Int
    let firing: Firing
    /// The action in which it waits; of one that waits for its turn the first.
    var next: Int
    var wait: Wait
    /// Of one that an earlier process began: so long it waits for plugs that are not there yet.
    var plugsUntil: Instant?
    var isRestored = false

    /// When it is to be looked at; nil: when something happens.
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
    /// Whether it changes with the time alone.
    var isTimed: Bool {
        switch self {
        case .time, .weekdays: true
        case .relay, .level, .activePower, .present: false
        case .all(let parts), .any(let parts): parts.contains(where: \.isTimed)
        case .not(let part): part.isTimed
        }
    }
}
