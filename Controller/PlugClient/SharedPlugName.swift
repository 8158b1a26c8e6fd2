public import PlugModel

/// A name that matches several paired plugs, but is not the exact name of any, so it is rejected as ambiguous.
public struct SharedPlugName: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name as the user wrote it.
    public var name: String
    /// The matching plugs, sorted by id.
    public var plugs: [PlugID]
    /// The exact names of these plugs, in the same order.
    public var names: [String]

    /// Checks a name; nil if the name is not ambiguous.
    ///
    /// - Parameters:
    ///   - written: The name as the user wrote it.
    ///   - names: All paired plugs. The names are unique as in ``PlugModel/PlugID/distinguishing(_:)``.
    public init?(_ written: String, among names: [PlugID: String]) {
        guard case .ambiguous(let plugs) = PlugNameOwner(of: written, among: names) else { return nil }
        self.plugs = plugs
        self.names = plugs.compactMap { names[$0] }
        name = written
    }

    /// The message for the user, with a hint.
    public var description: String {
        if zip(plugs, names).contains(where: { $0.shared(in: $1) == nil }) {
            let candidates = zip(plugs, names).map { "\"\($1)\" (\($0))" }.joined(separator: " and ")
            return """
                the name "\(name)" matches several paired plugs: \(candidates)
                hint: write one of these names exactly, or rename one of the plugs with `plugctl rename`
                """
        }
        let ids = plugs.map(\.rawValue).joined(separator: " and ")
        return """
            the plugs \(ids) are both called "\(name)"
            hint: use "\(plugs[0].distinguishing(name))" for one of them, and rename it with `plugctl rename`
            """
    }
}
