public import ProtocolCore

/// Where a plug's clock stands against the controller's, as one exchange of messages showed it.
public struct ClockMapping: Hashable, Sendable {
    /// The boot whose times it maps; those of another boot have no place on the controller's clock.
    public let boot: BootID
    /// Controller's clock minus plug's clock.
    public let offset: Duration
    /// The true offset lies within this much of ``offset``: half the round trip.
    public let uncertainty: Duration

    /// The plug took `plugTime` at some moment between `asked` and `answered`; the middle is the best guess.
    public init(boot: BootID, plugTime: Instant, asked: Instant, answered: Instant) {
        self.boot = boot
        uncertainty = (answered - asked) / 2
        offset = (asked + uncertainty) - plugTime
    }

    /// The controller's instant at which the plug's clock showed `plugTime`.
    public func instant(ofPlugTime plugTime: Instant) -> Instant { plugTime + offset }
}
