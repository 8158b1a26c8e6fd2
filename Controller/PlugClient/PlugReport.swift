public import LinuxClocks
public import PlugModel

/// An update with the plug's name and the wall-clock time at which it happened, as near as the controller can tell.
public struct PlugReport: Sendable {
    public var plug: String
    public var at: WallTime
    public var update: PlugUpdate
    /// The plug whose connection brought it, which proved that; nil before one was reached.
    public var source: PlugID?

    public init(plug: String, at: WallTime, update: PlugUpdate, source: PlugID? = nil) {
        self.plug = plug
        self.at = at
        self.update = update
        self.source = source
    }
}
