public import LinuxSystem
public import PlugModel

/// An update with the plug's name and its wall-clock time, as estimated by the controller.
public struct PlugReport: Sendable {
    /// The plug's name.
    public var plug: String
    /// The time of the update.
    public var at: WallTime
    /// The content.
    public var update: PlugUpdate
    /// The plug that the controller dialled in the current or last connection attempt; nil before the first attempt. An
    /// update with data comes from this plug, which has proved its key.
    public var source: PlugID?

    /// Creates a report from its parts.
    public init(plug: String, at: WallTime, update: PlugUpdate, source: PlugID? = nil) {
        self.plug = plug
        self.at = at
        self.update = update
        self.source = source
    }
}
