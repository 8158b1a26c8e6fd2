/// A JSON value from a script's process. Objects keep their order, and numbers their spelling.
public indirect enum JSONValue: Hashable, Sendable {
    case null
    case truth(Bool)
    case number(String)
    case text(String)
    case list([JSONValue])
    case object([Entry])

    /// A member of an object.
    public struct Entry: Hashable, Sendable {
        /// The key.
        public var key: String
        /// The value.
        public var value: JSONValue

        /// Creates a member.
        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }
}

extension YAMLTree {
    /// Converts the value to the tree of an equivalent YAML file. All its parts have the same place.
    ///
    /// - Throws: ``Fault`` if the value is nested too deeply or an object repeats a key.
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
                // A repeated key would hide an earlier value.
                guard !entries.contains(where: { $0.key == entry.key }) else {
                    throw Fault(place, "duplicate key '\(entry.key)' in a mapping")
                }
                let value = try tree(entry.value, place, depth: depth + 1)
                entries.append(Entry(key: entry.key, place: place, value: value))
            }
            return YAMLTree(place: place, value: .mapping(entries), size: entries.reduce(1) { $0 + $1.value.size })
        }
    }
}
