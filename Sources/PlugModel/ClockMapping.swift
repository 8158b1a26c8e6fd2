public import ProtocolCore

/// Where a plug's clock stands against the controller's, as exchanges of messages showed it.
public struct ClockMapping: Hashable, Sendable {
    /// How far two clocks may run apart: two crystals of 50 parts in a million each, and as much again for their warmth.
    static let drift = 0.0002

    /// The boot whose times it maps; those of another boot have no place on the controller's clock.
    public let boot: BootID
    /// Controller's clock minus plug's clock.
    public let offset: Duration
    /// The true offset lay within this much of ``offset`` when it was measured.
    public let uncertainty: Duration
    /// When, on the controller's clock.
    public let measured: Instant

    /// The plug took `plugTime` at some moment between `asked` and `answered`; the middle is the best guess, and half of the
    /// round trip its uncertainty.
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

    /// The controller's instant at which the plug's clock showed `plugTime`.
    public func instant(ofPlugTime plugTime: Instant) -> Instant { plugTime + offset }

    /// What the plug's clock shows at an instant of the controller's.
    public func plugTime(at instant: Instant) -> Instant { instant - offset }

    /// ``uncertainty``, and what the clocks may have run apart since.
    public func uncertainty(at now: Instant) -> Duration { uncertainty + max(.zero, now - measured) * Self.drift }

    /// What both this and a later measurement allow. A short round trip long ago is thus worth as much as a long one now;
    /// where they contradict each other (a clock ran far off) the later one counts.
    public func refined(by later: ClockMapping) -> ClockMapping {
        let spread = uncertainty(at: later.measured)
        let least = max(offset - spread, later.offset - later.uncertainty)
        let most = min(offset + spread, later.offset + later.uncertainty)
        guard boot == later.boot, least <= most else { return later }
        return ClockMapping(
            boot: boot, offset: least + (most - least) / 2, uncertainty: (most - least) / 2, measured: later.measured)
    }
}
