public import PlugModel

/// The plug that a name refers to: the result of ``PlugClient/find(_:within:)``.
public struct FoundPlug: Hashable, Sendable {
    /// The currently announced name.
    public var name: String
    /// The id of the paired plug to which the name that the user wrote refers; nil if it refers to no paired plug.
    public var id: PlugID?
}
