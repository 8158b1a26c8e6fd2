import CLinuxClocks
public import ProtocolCore

/// What the host's wall clock says about itself at one moment.
public struct ClockState: Hashable, Sendable {
    public var wall: WallTime
    public var sinceBoot: Instant
    /// Whether something keeps the clock in step with others (STA_UNSYNC of adjtimex(2)); nil where the sandbox does not let
    /// this process ask.
    public var isSynchronized: Bool?

    public init(wall: WallTime, sinceBoot: Instant, isSynchronized: Bool?) {
        self.wall = wall
        self.sinceBoot = sinceBoot
        self.isSynchronized = isSynchronized
    }

    public static var now: ClockState {
        let answer = clinuxclocks_is_synchronized()
        return ClockState(wall: .now, sinceBoot: BootClock.now, isSynchronized: answer < 0 ? nil : answer == 1)
    }

    /// How far somebody set the wall clock between the two moments; about zero where nobody did.
    public func step(until later: ClockState) -> Duration {
        .nanoseconds(later.wall.nanosecondsSince1970 - wall.nanosecondsSince1970) - (later.sinceBoot - sinceBoot)
    }
}
