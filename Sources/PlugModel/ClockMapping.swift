public import ProtocolCore

/// The offset between a plug's clock and the controller's clock, measured by message exchanges.
public struct ClockMapping: Hashable, Sendable {
    /// The maximum relative drift of the two clocks: 50 ppm for each crystal, and another 50 ppm each for temperature.
    static let drift = 0.0002

    /// The boot whose times this mapping converts. Times of other boots cannot be converted.
    public let boot: BootID
    /// The controller's clock minus the plug's clock.
    public let offset: Duration
    /// The maximum error of ``offset`` at the time of the measurement.
    public let uncertainty: Duration
    /// The time of the measurement on the controller's clock.
    public let measured: Instant

    /// Creates a mapping from one exchange. The plug read `plugTime` between `asked` and `answered`. The midpoint is
    /// the estimate; half of the round trip is the uncertainty.
    public init(boot: BootID, plugTime: Instant, asked: Instant, answered: Instant) {
        let half = (answered - asked) / 2
        self.init(boot: boot, offset: (asked + half) - plugTime, uncertainty: half, measured: answered)
    }

    private init(boot: BootID, offset: Duration, uncertainty: Duration, measured: Instant) {
        self.boot = boot
        self.offset = offset
        self.uncertainty = uncertainty
        self.measured = measured
    }

    /// Returns the controller's time at which the plug's clock showed `plugTime`.
    public func instant(ofPlugTime plugTime: Instant) -> Instant { plugTime + offset }

    /// Returns the time on the plug's clock at a time on the controller's clock.
    public func plugTime(at instant: Instant) -> Instant { instant - offset }

    /// Returns the maximum error at `now`: ``uncertainty`` plus the possible drift since the measurement.
    public func uncertainty(at now: Instant) -> Duration { uncertainty + max(.zero, now - measured) * Self.drift }

    /// Returns the intersection of this mapping and a later measurement, because an old measurement with a short round
    /// trip can be more exact than a new one with a long round trip. If the two contradict each other or belong to
    /// different boots, returns the later measurement.
    public func refined(by later: ClockMapping) -> ClockMapping {
        let spread = uncertainty(at: later.measured)
        let least = max(offset - spread, later.offset - later.uncertainty)
        let most = min(offset + spread, later.offset + later.uncertainty)
        guard boot == later.boot, least <= most else { return later }
        return ClockMapping(
            boot: boot, offset: least + (most - least) / 2, uncertainty: (most - least) / 2, measured: later.measured)
    }
}
