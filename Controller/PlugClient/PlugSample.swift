public import LinuxSystem
public import Metering

/// A sample from a plug's memory with its wall-clock time.
public struct PlugSample: Hashable, Sendable {
    /// The sample, with the plug's clock.
    public var sample: Sample
    /// The time on the controller's wall clock, as estimated by the controller.
    public var at: WallTime

    /// Creates a sample from its parts.
    public init(_ sample: Sample, at: WallTime) {
        self.sample = sample
        self.at = at
    }
}
