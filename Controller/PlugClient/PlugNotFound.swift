import ProtocolCore

/// No plug with that name was announced within the time limit of the search.
public struct PlugNotFound: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the plug that was not found.
    public var name: String
    /// The names of the plugs that were announced.
    public var known: [String]

    /// Creates the error.
    public init(name: String, known: [String]) {
        self.name = name
        self.known = known
    }

    /// The message for the user, with a hint that lists the announced plugs.
    public var description: String {
        let what = "no plug with the name \"\(name)\" was found"
        if known.isEmpty {
            return "\(what), and no other plugs either\nhint: `plugctl browse` shows plugs as they appear"
        }
        guard let near = Suggestion.nearest(to: name, among: known) else {
            return "\(what)\nhint: these plugs were found: \(list(known))"
        }
        return "\(what)\nhint: did you mean \"\(near)\"? These plugs were found: \(list(known))"
    }

    private func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }
}
