/// Somebody named a rule that does not run.
public struct UnknownRule: Error, Hashable, Sendable, CustomStringConvertible {
    public var name: String
    /// Those that do.
    public var known: [String]

    public var description: String { "no rule is named \"\(name)\"" }

    public var hint: String {
        let near = known.first { $0.lowercased() == name.lowercased() }
        guard let near else { return known.isEmpty ? "no rules run" : "see `plugctl rules state` for those that run" }
        return "did you mean \"\(near)\"?"
    }
}
