public import LinuxSystem
public import PlugModel
import ProtocolCore

/// Converts times of a plug's clock to wall-clock times. It is made once per connection, so that the same plug time always
/// has the same wall-clock time.
public struct PlugClock: Hashable, Sendable {
    /// The wall-clock time of the plug's boot.
    private let boot: WallTime

    /// Creates the clock of a connected plug.
    ///
    /// - Parameters:
    ///   - plug: the description at the start of the session.
    ///   - at: the wall-clock time of the report with this description.
    public init(_ plug: PlugDescription, at: WallTime) {
        boot = at - (plug.clock.measured - plug.clock.instant(ofPlugTime: .zero))
    }

    /// Returns the wall-clock time at which the plug's clock shows this time.
    func wallTime(ofPlugTime time: Instant) -> WallTime { boot + (time - .zero) }
}
