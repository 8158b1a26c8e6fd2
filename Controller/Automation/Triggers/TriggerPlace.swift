/// The place of a trigger: the index of its rule, and its place in the rule.
struct TriggerPlace: Hashable, Sendable {
    let rule: Int
    let place: Int
}

/// A trigger of a rule, with runtime state.
protocol PlacedTrigger {
    var place: TriggerPlace { get }
}

extension Sequence where Element: PlacedTrigger {
    /// Returns the triggers by their place in a new set of rules.
    ///
    /// - Parameter kept: the new indexes of the rules that remain, by their previous index.
    func byPlace(_ kept: [Int: Int]) -> [TriggerPlace: Element] {
        var places: [TriggerPlace: Element] = [:]
        for trigger in self {
            guard let rule = kept[trigger.place.rule] else { continue }
            places[TriggerPlace(rule: rule, place: trigger.place.place)] = trigger
        }
        return places
    }
}
