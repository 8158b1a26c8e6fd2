public import ProtocolCore

/// What a script may still set off: ``ScriptLimits/commands`` within any ``ScriptLimits/span``.
public struct CommandBudget: Hashable, Sendable {
    /// When each of those within the last span was asked for, the oldest first.
    public private(set) var spent: [Instant]

    public init() { spent = [] }

    /// - Parameter spent: by an earlier process. Of more than the limit only the last count.
    init(spent: [Instant]) { self.spent = spent.suffix(ScriptLimits.commands) }

    /// When there is room again; nil where there is some.
    public var next: Instant? {
        spent.count < ScriptLimits.commands ? nil : spent.first.map { $0 + ScriptLimits.span }
    }

    /// - Parameter count: how many are wanted.
    /// - Returns: how many of them may go.
    public mutating func take(_ count: Int, now: Instant) -> Int {
        spent.removeAll { $0 + ScriptLimits.span <= now }
        let granted = min(max(0, count), ScriptLimits.commands - spent.count)
        spent += Array(repeating: now, count: granted)
        return granted
    }

    /// The actions with the commands and effects that may go; each keeps its place, from which their ids follow, and a list of plugs loses
    /// those at its end.
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
    /// One for each plug, and one for anything else.
    fileprivate var cost: Int {
        switch self {
        case .notify, .run, .webHook: 1
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .wait, .waitUntil, .call: plugs.count
        }
    }

    /// For the first so many of its plugs.
    fileprivate func limited(to count: Int) -> RuleAction {
        let plugs = Array(plugs.prefix(count))
        switch self {
        case .turnOn(_, let autoOff): return .turnOn(plugs, autoOff: autoOff)
        case .turnOff: return .turnOff(plugs)
        case .toggle: return .toggle(plugs)
        case .dim(_, let level, let transition): return .dim(plugs, to: level, over: transition)
        case .dimBy(_, let permille, let transition): return .dimBy(plugs, permille: permille, over: transition)
        case .restore: return .restore(plugs)
        // In its place, and of no plug.
        case .notify, .run, .webHook: return count > 0 ? self : .turnOff([])
        case .wait, .waitUntil, .call: return self
        }
    }
}
