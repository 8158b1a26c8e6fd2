public import PlugModel

/// A plug that a rule mentions by name.
public struct NamedPlug: Hashable, Sendable {
    /// The name as written in the rule.
    public var written: String
    /// The id of the plug that the name refers to; nil if no plug with that name has been connected.
    public var id: PlugID?
    /// The plug's current name; nil if it is not known.
    public var name: String?
}
