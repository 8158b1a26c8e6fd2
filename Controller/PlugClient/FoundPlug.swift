public import PlugModel

/// The plug that a name refers to: the result of ``PlugClient/find(_:within:)``.
public struct FoundPlug: Hashable, Sendable {
    /// The currently announced name.
    public var name: String
    /// The id of the paired plug with this name; nil if no paired plug has it.
    public var id: PlugID?
}
