public import PlugModel

/// A level: something that holds or does not at any one time. What is about a plug that is not there does not hold, and neither does
/// what is about the time before the clock is known.
public indirect enum Condition: Hashable, Sendable {
    case time(DailyWindow)
    case weekdays(Weekdays)
    case relay(plug: String, on: Bool)
    /// The dim level, of a plug that has one.
    case level(plug: String, Bound<DimLevel>)
    case activePower(plug: String, Bound<Double>)
    /// Connected, or not.
    case present(plug: String, Bool)
    case all([Condition])
    case any([Condition])
    case not(Condition)

    /// Every plug that it names, in order.
    public var plugs: [String] {
        switch self {
        case .time, .weekdays: []
        case .relay(let plug, _), .level(let plug, _), .activePower(let plug, _), .present(let plug, _): [plug]
        case .all(let parts), .any(let parts): parts.flatMap(\.plugs)
        case .not(let part): part.plugs
        }
    }
}

/// Beyond a value, which is itself not beyond.
public enum Bound<Value: Hashable & Comparable & Sendable>: Hashable, Sendable {
    case above(Value)
    case below(Value)

    public func holds(_ value: Value) -> Bool {
        switch self {
        case .above(let bound): value > bound
        case .below(let bound): value < bound
        }
    }
}
