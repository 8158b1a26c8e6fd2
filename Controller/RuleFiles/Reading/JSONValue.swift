/// A value of JSON that a script's process wrote, with its objects in their order and its numbers as they were written.
public indirect enum JSONValue: Hashable, Sendable {
    case null
    case truth(Bool)
    case number(String)
    case text(String)
    case list([JSONValue])
    case object([Entry])

    public struct Entry: Hashable, Sendable {
        public var key: String
        public var value: JSONValue

        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }
}

extension YAMLTree {
    /// As a file that says the same is read, with everything at one place.
    init(_ json: JSONValue, at place: Place) throws(Fault) {
        self = try Self.tree(json, place, depth: 1)
    }

    private static func tree(_ json: JSONValue, _ place: Place, depth: Int) throws(Fault) -> YAMLTree {
        guard depth <= RuleFileLimits.depth else {
            throw Fault(place, "lists and mappings are nested more than \(RuleFileLimits.depth) deep")
        }
        switch json {
        case .null: return YAMLTree(place: place, value: .scalar(""), size: 1)
        case .truth(let truth): return YAMLTree(place: place, value: .scalar("\(truth)"), size: 1)
        case .number(let text), .text(let text): return YAMLTree(place: place, value: .scalar(text), size: 1)
        case .list(let list):
            var trees: [YAMLTree] = []
            for value in list { trees.append(try tree(value, place, depth: depth + 1)) }
            return YAMLTree(place: place, value: .list(trees), size: trees.reduce(1) { $0 + $1.size })
        case .object(let object):
            var entries: [Entry] = []
            for entry in object {
                // The last of two would hide the first.
                guard !entries.contains(where: { $0.key == entry.key }) else {
                    throw Fault(place, "'\(entry.key)' stands twice in the same mapping")
                }
                let value = try tree(entry.value, place, depth: depth + 1)
                entries.append(Entry(key: entry.key, place: place, value: value))
            }
            return YAMLTree(place: place, value: .mapping(entries), size: entries.reduce(1) { $0 + $1.value.size })
        }
    }
}
