public import PlugModel

/// Several plugs that are paired here have this name: nobody guesses which one is meant.
public struct SharedPlugName: Error, Hashable, Sendable, CustomStringConvertible {
    public var name: String
    /// In order.
    public var plugs: [PlugID]

    /// Nil where the name fits one plug at most.
    ///
    /// - Parameter names: of all plugs that are paired, told apart as ``PlugModel/PlugID/distinguishing(_:)`` does.
    init?(_ written: String, among names: [PlugID: String]) {
        let wanted = written.lowercased()
        plugs = names.filter { $0.key.shared(in: $0.value)?.lowercased() == wanted }.keys.sorted {
            $0.rawValue < $1.rawValue
        }
        guard !plugs.isEmpty else { return nil }
        name = written
    }

    public var description: String {
        let ids = plugs.map(\.rawValue).joined(separator: " and ")
        return """
            the plugs \(ids) are both called "\(name)"
            hint: "\(plugs[0].distinguishing(name))" names one of them, and `plugctl rename` gives it another name
            """
    }
}
