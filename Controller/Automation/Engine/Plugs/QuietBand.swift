public import ProtocolCore

/// The place of a plug in an engine, for as long as the engine lives.
public struct PlugIndex: Hashable, Sendable {
    let value: Int
}

/// What a plug's readings may be without anything coming of them: no trigger changes its state, no run goes on. Of such a reading
/// only value, time and arrival are kept.
///
/// It holds until the engine is given anything else, or reaches ``RuleEngine/nextDeadline``.
public struct QuietBand: Hashable, Sendable {
    /// Watts, both included; `low` above `high` where every reading has to be told.
    public internal(set) var low = Double.infinity
    public internal(set) var high = -Double.infinity
    /// The last reading's time on the plug's clock: what is not later than this is not quiet.
    public internal(set) var after = Instant.zero
    /// Included, on the plug's clock.
    public internal(set) var until = Instant.zero
    /// Nanoseconds: the greatest difference to the time of the reading before.
    public internal(set) var gap = Int64.max
    /// Nanoseconds: the least by which the arrival is ahead of the plug's clock. One that came faster than those before moves the end
    /// of a dwell forward.
    public internal(set) var lag = Int64.min

    static let nothing = QuietBand()

    /// Whether the next reading is quiet. No number is in no band.
    @inline(__always)
    public func contains(_ activePower: Double, time: Instant, now: Instant) -> Bool {
        // Differences that overflow are huge when they are taken as unsigned, and no gap is.
        low <= activePower && activePower <= high && after < time && time <= until
            && UInt64(bitPattern: time.nanoseconds &- after.nanoseconds) <= UInt64(bitPattern: gap)
            && now.nanoseconds &- time.nanoseconds >= lag
    }

    /// Leaves only what is at least this.
    mutating func atLeast(_ watts: Double) { low = max(low, watts) }
    mutating func atMost(_ watts: Double) { high = min(high, watts) }
}

/// What each reading touches, and nothing else: a line of the processor's cache or two for each plug.
struct PlugMeter: Sendable {
    var band = QuietBand.nothing
    /// The last reading since it appeared: watts, and when it came. Its time is the band's `after`.
    var activePower = 0.0
    var arrival = Instant.zero
    var hasReading = false
    /// Longer silence than this interrupts a dwell.
    var gap = RuleEngine.readingGap
    /// Each reading teaches what the appliance does: of one in the band no trigger has to be asked, but it has to be told.
    var isWatched = false
}

extension RuleEngine {
    /// The plug that announces exactly this name; nil until it appeared.
    public func index(of plug: String) -> PlugIndex? { plugs.index(of: plug).map { PlugIndex(value: $0) } }

    /// What its next readings may be without a call of ``read(_:activePower:time:now:)``: see ``skip(_:activePower:time:now:)``.
    public func quietBand(of plug: PlugIndex) -> QuietBand { isWatched(plug) ? .nothing : meters[plug.value].band }

    /// A rule asks what the appliance on it does, so that none of its readings is quiet.
    public func isWatched(_ plug: PlugIndex) -> Bool { meters[plug.value].isWatched }

    /// A reading that is no snapshot.
    ///
    /// - Parameters:
    ///   - activePower: watts.
    ///   - time: on the plug's clock.
    public mutating func read(_ plug: PlugIndex, activePower: Double, time: Instant, now: Instant) -> [Action] {
        if meters[plug.value].takesQuietly(activePower, time: time, now: now) { return [] }
        var actions: [Action] = []
        begin(now: now, &actions)
        follow(plug.value, activePower, time: time, now: now, &actions)
        finish(now: now, &actions)
        return actions
    }

    /// Its readings come more seldom now, or more often: longer silence than this interrupts a dwell.
    public mutating func expect(readingGap: Duration, of plug: PlugIndex) {
        meters[plug.value].gap = readingGap
        // The band and the ends of dwells were found with the other gap.
        refresh(plug.value)
    }

    /// Every reading after the one before and up to this one was in the band.
    public mutating func skip(_ plug: PlugIndex, activePower: Double, time: Instant, now: Instant) {
        meters[plug.value].keep(activePower, time: time, now: now)
    }
}

extension PlugMeter {
    /// No reading is quiet until the band is found anew. The last one's time stays.
    mutating func closeBand() {
        let last = band.after
        band = .nothing
        band.after = last
    }

    @inline(__always)
    mutating func takesQuietly(_ activePower: Double, time: Instant, now: Instant) -> Bool {
        guard band.contains(activePower, time: time, now: now), !isWatched else { return false }
        keep(activePower, time: time, now: now)
        return true
    }

    @inline(__always)
    mutating func keep(_ activePower: Double, time: Instant, now: Instant) {
        self.activePower = activePower
        band.after = time
        arrival = now
        hasReading = true
    }

    var time: Instant { band.after }

    /// When a reading of that time would have come, on the controller's clock: as late as the last one did.
    func arrival(of time: Instant) -> Instant {
        Instant(nanoseconds: arrival.nanoseconds &- (self.time.nanoseconds &- time.nanoseconds))
    }
}
