import ProtocolCore

/// No plug of that name was announced in the time given to the search.
public struct PlugNotFound: Error, Hashable, Sendable, CustomStringConvertible {
    public var name: String
    /// The plugs that were.
    public var known: [String]

    public init(name: String, known: [String]) {
        self.name = name
        self.known = known
    }

    public var description: String {
        let what = "no plug named \"\(name)\" answers"
        if known.isEmpty {
            return "\(what), and no other plug either\nhint: `plugctl browse` shows plugs as they appear"
        }
        guard let near = Suggestion.nearest(to: name, among: known) else {
            return "\(what)\nhint: these plugs do: \(list(known))"
        }
        return "\(what)\nhint: did you mean \"\(near)\"? These plugs answer: \(list(known))"
    }

    private func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }
}
