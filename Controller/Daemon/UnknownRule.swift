/// The error when a user's request names a rule that is not active.
public struct UnknownRule: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name in the request.
    public var name: String
    /// The names of the active rules.
    public var known: [String]

    /// The message for the user, without the hint.
    public var description: String { "no rule is named \"\(name)\"" }

    /// The hint for the user.
    public var hint: String {
        let near = known.first { $0.lowercased() == name.lowercased() }
        guard let near else { return known.isEmpty ? "no rules are running" : "`plugctl rules state` lists the rules" }
        return "did you mean \"\(near)\"?"
    }
}
