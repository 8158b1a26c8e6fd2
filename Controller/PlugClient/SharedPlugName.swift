public import PlugModel

/// A name that fits several paired plugs, and none of them exactly: nobody guesses which one is meant.
public struct SharedPlugName: Error, Hashable, Sendable, CustomStringConvertible {
    public var name: String
    /// In order.
    public var plugs: [PlugID]
    /// The exact names of these plugs.
    public var names: [String]

    /// Nil if the name fits one plug at most.
    ///
    /// - Parameter names: of all plugs that are paired, told apart as ``PlugModel/PlugID/distinguishing(_:)`` does.
    public init?(_ written: String, among names: [PlugID: String]) {
        guard case .ambiguous(let plugs) = PlugNameOwner(of: written, among: names) else { return nil }
        self.plugs = plugs
        self.names = plugs.compactMap { names[$0] }
        name = written
    }

    public var description: String {
        if zip(plugs, names).contains(where: { $0.shared(in: $1) == nil }) {
            let candidates = zip(plugs, names).map { "\"\($1)\" (\($0))" }.joined(separator: " and ")
            return """
                the name "\(name)" fits several paired plugs: \(candidates)
                hint: write one of these names exactly, or give one of the plugs a different name with `plugctl rename`
                """
        }
        let ids = plugs.map(\.rawValue).joined(separator: " and ")
        return """
            the plugs \(ids) are both called "\(name)"
            hint: "\(plugs[0].distinguishing(name))" names one of them, and `plugctl rename` gives it another name
            """
    }
}
