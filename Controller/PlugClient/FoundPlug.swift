public import PlugModel

/// The plug that a name refers to: the result of ``PlugClient/find(_:within:)``.
public struct FoundPlug: Hashable, Sendable {
    /// The currently announced name.
    public var name: String
    /// The id of the paired plug with the name that the user wrote; nil if no paired plug has that name.
    public var id: PlugID?
    /// The address at which the plug was last reached, for the first connection; nil to search for the plug.
    var recent: PlugAddress?
}
