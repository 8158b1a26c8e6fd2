import LinuxSystem
import ProtocolCore

/// No plug with that name was announced within the time limit of the search.
public struct PlugNotFound: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the plug that was not found.
    public var name: String
    /// True if a plug with this name is paired.
    public var isPaired: Bool
    /// When the connection to the paired plug ended, as text for the user; nil if that is not known.
    public var since: String?
    /// Where and when the paired plug was last reached; nil if that is not known.
    var last: RecentAddress?
    /// The names of the plugs that were announced.
    public var known: [String]

    /// Creates the error.
    public init(name: String, isPaired: Bool = false, known: [String]) {
        self.name = name
        self.isPaired = isPaired
        self.known = known
    }

    /// The message for the user, with a hint that lists the announced plugs, or what to do about a paired plug.
    public var description: String {
        if isPaired {
            return """
                "\(name)" is paired, but it is away\(since.map { " since \($0)" } ?? ""): it is off, out of reach or in a different network
                hint: \(lastWords)`plugctl doctor` finds the reason; `plugctl address` stores the address of a plug in a different \
                network; `plugctl unpair "\(name)" --here-only` forgets a plug that no longer exists
                """
        }
        let what = "no plug with the name \"\(name)\" was found"
        if known.isEmpty {
            return "\(what), and no other plugs either\nhint: `plugctl browse` shows plugs as they appear"
        }
        guard let near = Suggestion.nearest(to: name, among: known) else {
            return "\(what)\nhint: these plugs were found: \(list(known))"
        }
        return "\(what)\nhint: did you mean \"\(near)\"? These plugs were found: \(list(known))"
    }

    private var lastWords: String {
        guard let last else { return "" }
        let time = last.time.iso8601(offset: last.time.localOffset).prefix(16).replacing("T", with: " ")
        return "it was last reached at \(last.address), \(time); "
    }

    private func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }
}
