public import LinuxClocks
public import PlugModel

/// An update with the plug's name and its wall-clock time, as estimated by the controller.
public struct PlugReport: Sendable {
    /// The plug's name.
    public var plug: String
    /// The time of the update.
    public var at: WallTime
    /// The content.
    public var update: PlugUpdate
    /// The plug that had to prove its key in the current or last connection attempt, and the sender of an update with
    /// data; nil before the first attempt.
    public var source: PlugID?

    /// Creates a report from its parts.
    public init(plug: String, at: WallTime, update: PlugUpdate, source: PlugID? = nil) {
        self.plug = plug
        self.at = at
        self.update = update
        self.source = source
    }
}
