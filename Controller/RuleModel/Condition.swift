public import PlugModel

/// A statement about the present state of the house, which is either true or false. A condition about an absent plug is
/// false, except ``present(plug:_:)`` with `false`. A condition about the local time is false until the local time is
/// known.
public indirect enum Condition: Hashable, Sendable {
    /// The local time is within the window. False if the window needs a sun time that is unknown.
    case time(DailyWindow)
    /// The local day is one of the set.
    case weekdays(Weekdays)
    /// The relay is on (`true`), or it is off (`false`).
    case relay(plug: String, on: Bool)
    /// The dim level is beyond the bound. False for a plug without a dimmer.
    case level(plug: String, Bound<DimLevel>)
    /// The active power of the last reading, in watts, is beyond the bound. False before the first reading.
    case activePower(plug: String, Bound<Double>)
    /// The plug is connected (`true`), or it is not connected (`false`). A name that matches several plugs counts as
    /// connected.
    case present(plug: String, Bool)
    /// All parts hold. True for an empty list.
    case all([Condition])
    /// At least one part holds.
    case any([Condition])
    /// The part does not hold.
    case not(Condition)

    /// The plugs that the condition names, in the order of its parts. A plug may be listed more than once.
    public var plugs: [String] {
        switch self {
        case .time, .weekdays: []
        case .relay(let plug, _), .level(let plug, _), .activePower(let plug, _), .present(let plug, _): [plug]
        case .all(let parts), .any(let parts): parts.flatMap(\.plugs)
        case .not(let part): part.plugs
        }
    }
}

/// A strict bound: a value that equals the bound does not satisfy it.
public enum Bound<Value: Hashable & Comparable & Sendable>: Hashable, Sendable {
    case above(Value)
    case below(Value)

    /// Returns true if the value is strictly beyond the bound.
    public func holds(_ value: Value) -> Bool {
        switch self {
        case .above(let bound): value > bound
        case .below(let bound): value < bound
        }
    }
}
