import RuleModel

/// A partly known state of house and clock, which detects contradictory assumptions.
struct HypotheticalState {
    /// A value that a plug measures, or to which it is set.
    enum Measure: Hashable {
        /// The active power of the plug with this key, in watts.
        case activePower(String)
        /// The dim level of the plug with this key, in thousandths of full brightness.
        case level(String)

        /// The range of possible values.
        fileprivate var span: Span {
            switch self {
            case .activePower: Span(low: -RuleInspection.rating, high: RuleInspection.rating)
            case .level: Span(low: 0, high: 1000)
            }
        }
    }

    /// An interval. Each of its ends is included or excluded.
    struct Span: Hashable {
        var low = -Double.infinity
        var lowIncluded = true
        var high = Double.infinity
        var highIncluded = true

        var isEmpty: Bool { low > high || (low == high && !(lowIncluded && highIncluded)) }

        func intersection(_ other: Span) -> Span {
            var common = self
            if other.low > low { (common.low, common.lowIncluded) = (other.low, other.lowIncluded) }
            if other.low == low { common.lowIncluded = lowIncluded && other.lowIncluded }
            if other.high < high { (common.high, common.highIncluded) = (other.high, other.highIncluded) }
            if other.high == high { common.highIncluded = highIncluded && other.highIncluded }
            return common
        }
    }

    /// An assumption. Plugs are named by ``KnownHouse/key(_:)``.
    enum Fact: Hashable {
        case relay(String, on: Bool)
        case present(String, Bool)
        case measure(Measure, Span)
        /// The value is unknown, because the plug is absent or has no such value.
        case unread(Measure)
        case time(WeekTimes)
        /// A window with an end that depends on the sun.
        case sun(DailyWindow, inside: Bool)
    }

    private var relays: [String: Bool] = [:]
    private var presences: [String: Bool] = [:]
    private var measures: [Measure: Span] = [:]
    private var unread: Set<Measure> = []
    private var times = WeekTimes.always
    private var windows: [DailyWindow: Bool] = [:]

    /// The number of stored facts, as the cost of copying the state.
    var weight: Int {
        relays.count + presences.count + measures.count + unread.count + windows.count + times.ranges.count
    }

    /// Adds an assumption.
    ///
    /// - Returns: false if it contradicts the earlier ones.
    mutating func suppose(_ fact: Fact) -> Bool {
        switch fact {
        case .relay(let plug, let on): return agree(&relays, plug, on)
        case .present(let plug, let isPresent): return agree(&presences, plug, isPresent)
        case .measure(let measure, let span):
            let common = (measures[measure] ?? measure.span).intersection(span)
            measures[measure] = common
            return !common.isEmpty && !unread.contains(measure)
        case .unread(let measure):
            unread.insert(measure)
            return measures[measure] == nil
        case .time(let other):
            times = times.intersection(other)
            return !times.isEmpty
        case .sun(let window, let inside): return agree(&windows, window, inside)
        }
    }

    private func agree<Key: Hashable>(_ known: inout [Key: Bool], _ key: Key, _ value: Bool) -> Bool {
        if let old = known[key] { return old == value }
        known[key] = value
        return true
    }
}
