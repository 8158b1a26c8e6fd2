import RuleModel

/// The worlds (hypothetical states of the house) in which all added conditions hold. Conditions are added one at a
/// time. If no world is left, the conditions exclude each other.
struct Assumptions {
    /// The maximum number of worlds. Nested `any` conditions multiply their number. Above the limit, contradictions are
    /// not detected.
    private static let limit = 256

    private let house: KnownHouse
    private let work: InspectionWork
    /// The worlds that are left. Nil if there were more than ``limit``, or if the work limit was reached.
    private var worlds: [HypotheticalState]? = [HypotheticalState()]

    init(_ inspection: RuleInspection) { (house, work) = (inspection.house, inspection.work) }

    /// True if the assumptions exclude each other.
    var areImpossible: Bool { worlds?.isEmpty ?? false }

    mutating func suppose(_ facts: [HypotheticalState.Fact]) { worlds = worlds.flatMap { add([facts], to: $0) } }

    mutating func suppose(_ conditions: [Condition]) {
        for condition in conditions { worlds = worlds.flatMap { add(condition, true, to: $0, alsoAway: true) } }
    }

    /// Assumes that a condition does not hold.
    ///
    /// - Parameter alsoAway: true to include worlds in which the condition is false because its plug is absent.
    mutating func deny(_ condition: Condition, alsoAway: Bool = true) {
        worlds = worlds.flatMap { add(condition, false, to: $0, alsoAway: alsoAway) }
    }

    private func add(
        _ condition: Condition, _ holds: Bool, to worlds: [HypotheticalState], alsoAway: Bool
    ) -> [HypotheticalState]? {
        switch (condition, holds) {
        case (.not(let part), _): return add(part, !holds, to: worlds, alsoAway: alsoAway)
        case (.all(let parts), true), (.any(let parts), false):
            var left: [HypotheticalState]? = worlds
            for part in parts { left = left.flatMap { add(part, holds, to: $0, alsoAway: alsoAway) } }
            return left
        case (.any(let parts), true), (.all(let parts), false):
            var found: [HypotheticalState] = []
            for part in parts {
                guard let more = add(part, holds, to: worlds, alsoAway: alsoAway) else { return nil }
                found += more
                if found.count > Self.limit { return nil }
            }
            return found
        case (.time, _), (.weekdays, _), (.relay, _), (.level, _), (.activePower, _), (.present, _):
            return add(alternatives(condition, holds, alsoAway: alsoAway), to: worlds)
        }
    }

    /// Returns the worlds in which one of the alternatives holds. Nil if there are more than ``limit``, or if the work
    /// limit is reached.
    private func add(_ alternatives: [[HypotheticalState.Fact]], to worlds: [HypotheticalState]) -> [HypotheticalState]?
    {
        var found: [HypotheticalState] = []
        for world in worlds {
            for facts in alternatives {
                work.spend(10 + world.weight)
                if work.isSpent { return nil }
                var world = world
                if facts.allSatisfy({ world.suppose($0) }) { found.append(world) }
            }
        }
        return found.count > Self.limit ? nil : found
    }

    /// Returns alternative lists of facts. If all facts of one list apply, the leaf holds (`holds` is true) or does not
    /// hold (`holds` is false).
    private func alternatives(_ leaf: Condition, _ holds: Bool, alsoAway: Bool) -> [[HypotheticalState.Fact]] {
        switch leaf {
        case .time(let window):
            guard let (after, before) = window.clock else { return [[.sun(window, inside: holds)]] }
            let times = WeekTimes(after: after, before: before)
            return [[.time(holds ? times : times.complement)]]
        case .weekdays(let days):
            let times = WeekTimes(days)
            return [[.time(holds ? times : times.complement)]]
        case .relay(let plug, let on):
            let key = house.key(plug)
            let there: [HypotheticalState.Fact] = [.relay(key, on: on == holds), .present(key, true)]
            return holds || !alsoAway ? [there] : [there, [.present(key, false)]]
        case .level(let plug, let bound):
            return measured(.level(house.key(plug)), plug, bound.span { Double($0.permille) }, holds, alsoAway)
        case .activePower(let plug, let bound):
            return measured(.activePower(house.key(plug)), plug, bound.span { $0 }, holds, alsoAway)
        case .present(let plug, let isPresent): return [[.present(house.key(plug), isPresent == holds)]]
        case .all, .any, .not: return [[]]
        }
    }

    private func measured(
        _ measure: HypotheticalState.Measure, _ plug: String, _ span: HypotheticalState.Span, _ holds: Bool,
        _ alsoAway: Bool
    ) -> [[HypotheticalState.Fact]] {
        let there: [HypotheticalState.Fact] = [
            .measure(measure, holds ? span : span.rest), .present(house.key(plug), true),
        ]
        return holds || !alsoAway ? [there] : [there, [.unread(measure)]]
    }
}

extension Bound {
    fileprivate func span(_ value: (Value) -> Double) -> HypotheticalState.Span {
        switch self {
        case .above(let bound): HypotheticalState.Span(low: value(bound), lowIncluded: false)
        case .below(let bound): HypotheticalState.Span(high: value(bound), highIncluded: false)
        }
    }
}

extension HypotheticalState.Span {
    /// The complement of an interval with one infinite end.
    fileprivate var rest: HypotheticalState.Span {
        low == -.infinity
            ? HypotheticalState.Span(low: high, lowIncluded: !highIncluded)
            : HypotheticalState.Span(high: low, highIncluded: !lowIncluded)
    }
}
