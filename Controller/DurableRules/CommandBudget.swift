public import ProtocolCore
public import RuleModel

/// A script's rate limit: at most ``ScriptLimits/commands`` within any ``ScriptLimits/span``. One budget limits the
/// script's commands and effects together, and another budget limits the ends of its timers.
public struct CommandBudget: Hashable, Sendable {
    /// The times of the commands within the last span, oldest first.
    public private(set) var spent: [Instant]

    /// Creates a budget of which no command is spent.
    public init() { spent = [] }

    /// - Parameter spent: the times from an earlier process. If they exceed the limit, only the last ones count.
    init(spent: [Instant]) { self.spent = spent.suffix(ScriptLimits.commands) }

    /// The time at which a command is allowed again; nil if the budget is not used up.
    public var next: Instant? {
        spent.count < ScriptLimits.commands ? nil : spent.first.map { $0 + ScriptLimits.span }
    }

    /// Takes up to `count` commands from the budget.
    ///
    /// - Returns: the number that is allowed.
    public mutating func take(_ count: Int, now: Instant) -> Int {
        spent.removeAll { $0 + ScriptLimits.span <= now }
        let granted = min(max(0, count), ScriptLimits.commands - spent.count)
        spent += Array(repeating: now, count: granted)
        return granted
    }

    /// Limits actions to the allowed commands and effects. Each action keeps its place, because its command ids are
    /// derived from the place. A list of plugs loses its last entries.
    ///
    /// - Returns: the limited actions, and the number of commands and effects that were dropped.
    public mutating func take(_ actions: [RuleAction], now: Instant) -> (actions: [RuleAction], heldBack: Int) {
        let wanted = actions.reduce(0) { $0 + $1.cost }
        guard wanted > 0 else { return (actions, 0) }
        var room = take(wanted, now: now)
        let heldBack = wanted - room
        guard heldBack > 0 else { return (actions, 0) }
        let kept = actions.map { action in
            let count = min(room, action.cost)
            room -= count
            return action.limited(to: count)
        }
        return (kept, heldBack)
    }
}

extension RuleAction {
    /// The number of commands and effects: one per plug, or one for a notification, a program, a web hook or a wake.
    fileprivate var cost: Int {
        switch self {
        case .notify, .run, .webHook, .wake: 1
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .wait, .waitUntil, .call: plugs.count
        }
    }

    /// Returns the action for the first `count` plugs.
    fileprivate func limited(to count: Int) -> RuleAction {
        let plugs = Array(plugs.prefix(count))
        switch self {
        case .turnOn(_, let autoOff): return .turnOn(plugs, autoOff: autoOff)
        case .turnOff: return .turnOff(plugs)
        case .toggle: return .toggle(plugs)
        case .dim(_, let level, let transition): return .dim(plugs, to: level, over: transition)
        case .dimBy(_, let permille, let transition): return .dimBy(plugs, permille: permille, over: transition)
        case .restore: return .restore(plugs)
        // An action without plugs replaces a dropped effect, so that later actions keep their places.
        case .notify, .run, .webHook, .wake: return count > 0 ? self : .turnOff([])
        case .wait, .waitUntil, .call: return self
        }
    }
}
