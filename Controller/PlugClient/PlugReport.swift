public import LinuxClocks

/// An update with the plug's name and the wall-clock time at which it happened, as near as the controller can tell.
public struct PlugReport: Sendable {
    public var plug: String
    public var at: WallTime
    public var update: PlugUpdate

    public init(plug: String, at: WallTime, update: PlugUpdate) {
        self.plug = plug
        self.at = at
        self.update = update
    }
}
