import CLinuxSystem
public import ProtocolCore

/// The state of the host's wall clock at one moment.
public struct ClockState: Hashable, Sendable {
    /// The wall-clock time.
    public var wall: WallTime
    /// The time since boot at the same moment.
    public var sinceBoot: Instant
    /// True if a time service keeps the clock synchronized (STA_UNSYNC of adjtimex(2) is clear). Nil if the sandbox
    /// does not permit the query.
    public var isSynchronized: Bool?

    /// Creates a state.
    public init(wall: WallTime, sinceBoot: Instant, isSynchronized: Bool?) {
        self.wall = wall
        self.sinceBoot = sinceBoot
        self.isSynchronized = isSynchronized
    }

    /// The current state.
    public static var now: ClockState {
        let answer = clinuxsystem_is_synchronized()
        return ClockState(wall: .now, sinceBoot: BootClock.now, isSynchronized: answer < 0 ? nil : answer == 1)
    }

    /// Returns the amount by which the wall clock was set between two moments, approximately zero if it was not set.
    public func step(until later: ClockState) -> Duration {
        let onWallClock = later.wall.nanosecondsSince1970 - wall.nanosecondsSince1970
        let elapsed: Duration = later.sinceBoot - sinceBoot
        return .nanoseconds(onWallClock) - elapsed
    }
}
