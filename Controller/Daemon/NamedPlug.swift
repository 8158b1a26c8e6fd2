public import PlugModel

/// A plug that a rule names.
public struct NamedPlug: Hashable, Sendable {
    /// As the rule has it.
    public var written: String
    /// Of the plug that the name means; nil while no plug of that name has been there.
    public var id: PlugID?
    /// What this plug is called now.
    public var name: String?
}
