public import RuleChecks

/// The places of the parts of a rule in its file.
public struct RulePlaces: Hashable, Sendable {
    var name: Place
    var triggers: [PartPlaces]
    var conditions: [PartPlaces]
    var actions: [PartPlaces]
    /// The places of the values of the rule's keys, by key.
    var keys: [String: Place]

    /// Returns the place of a part, or the place of the rule's name if the rule has no such part.
    ///
    /// - Parameter word: a name or another word in the part, whose place is returned if the part contains it.
    public func place(of part: RulePart, word: String? = nil) -> Place {
        let places: PartPlaces? =
            switch part {
            case .name: nil
            case .trigger(let index): triggers.indices.contains(index) ? triggers[index] : nil
            case .condition(let index): conditions.indices.contains(index) ? conditions[index] : nil
            case .action(let index): actions.indices.contains(index) ? actions[index] : nil
            case .key(let key): keys[key].map { PartPlaces(place: $0, words: [:]) }
            }
        guard let places else { return name }
        return word.flatMap { places.words[$0] } ?? places.place
    }
}

/// The place of one part, and the first place of each key and single value in it. The number of places is bounded by
/// the values in the file.
struct PartPlaces: Hashable, Sendable {
    var place: Place
    var words: [String: Place]
}

extension PartPlaces {
    init(_ tree: YAMLTree) {
        self.init(place: tree.place, words: [:])
        note(tree)
    }

    private mutating func note(_ tree: YAMLTree) {
        switch tree.value {
        case .scalar(let text): note(text, tree.place)
        case .list(let list): for element in list { note(element) }
        case .mapping(let entries):
            // Values have precedence over keys, because a plug may have the same name as a key.
            for entry in entries { note(entry.value) }
            for entry in entries { note(entry.key, entry.place) }
        }
    }

    private mutating func note(_ word: String, _ place: Place) {
        if words[word] == nil { words[word] = place }
    }
}

/// A part of a rule with its places.
struct Placed<Value: Sendable>: Sendable {
    var value: Value
    var places: PartPlaces
}
