public import Automation

/// Where the parts of a rule stand in its file.
public struct RulePlaces: Hashable, Sendable {
    var name: Place
    var triggers: [PartPlaces]
    var conditions: [PartPlaces]
    var actions: [PartPlaces]
    /// The values of the other keys.
    var keys: [String: Place]

    /// - Parameter word: a name or another word within the part, which is looked for; where it is not there, the whole part's place.
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

/// Where one part stands, and the keys and single values in it, each where it is first. There are no more of them than values in the
/// file.
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
            // Values before keys: a plug may be called as a key is.
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
