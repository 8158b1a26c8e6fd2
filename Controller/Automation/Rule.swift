public import PlugProtocol

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

/// An edge: something that happens once. Plugs are named as a person writes them (``RuleEngine`` says how they are found).
public enum Trigger: Hashable, Sendable {
    case activePower(plug: String, PowerThreshold)
    case button(plug: String, ButtonPress)

    public var plug: String {
        switch self {
        case .activePower(let plug, _), .button(let plug, _): plug
        }
    }
}

/// A level: something that holds or does not at any one time.
public enum Condition: Hashable, Sendable {
    case time(DailyWindow)
    case relay(plug: String, on: Bool)
}

/// What a rule does. Toggle becomes an absolute command when the rule fires, from what is then known of the plug.
public enum RuleAction: Hashable, Sendable {
    case turnOn([String])
    case turnOff([String])
    case toggle([String])
    case dim([String], to: DimLevel, over: Duration)

    public var plugs: [String] {
        switch self {
        case .turnOn(let plugs), .turnOff(let plugs), .toggle(let plugs), .dim(let plugs, _, _): plugs
        }
    }
}
