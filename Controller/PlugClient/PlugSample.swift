public import LinuxClocks
public import Metering

/// A sample out of a plug's memory, and when that was.
public struct PlugSample: Hashable, Sendable {
    public var sample: Sample
    /// By the controller's wall clock, as near as it can tell.
    public var at: WallTime

    public init(_ sample: Sample, at: WallTime) {
        self.sample = sample
        self.at = at
    }
}
