public import PlugModel

/// The plug that a name means: the result of ``PlugClient/find(_:within:)``.
public struct FoundPlug: Hashable, Sendable {
    /// The name that it announces now.
    public var name: String
    /// The id of the paired plug that has the written name. Nil: no paired plug has it.
    public var id: PlugID?
}
