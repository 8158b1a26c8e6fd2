public import ProtocolCore

/// The index of a plug in an engine, valid for the life of the engine.
public struct PlugIndex: Hashable, Sendable {
    let value: Int
}

/// The range of a plug's readings that change nothing: no trigger changes its state and no run resumes. The engine
/// stores only the value, time and arrival of such a reading.
///
/// Valid until the engine handles any other event or reaches ``RuleEngine/nextDeadline``.
public struct QuietBand: Hashable, Sendable {
    /// The lowest quiet power in watts, included. It is above ``high`` if every reading must be handled.
    public internal(set) var low = Double.infinity
    /// The highest quiet power in watts, included.
    public internal(set) var high = -Double.infinity
    /// The last reading's time on the plug's clock. Only later readings are quiet.
    public internal(set) var after = Instant.zero
    /// The last quiet time on the plug's clock, included.
    public internal(set) var until = Instant.zero
    /// The maximum time since the previous reading, in nanoseconds.
    public internal(set) var gap = Int64.max
    /// The minimum difference, in nanoseconds, from a reading's time on the plug's clock to its arrival on the
    /// controller's clock. A reading with a shorter delay than the last one ends a dwell sooner, so it is not quiet.
    public internal(set) var lag = Int64.min

    static let nothing = QuietBand()

    /// Returns true if the next reading is quiet. False for NaN.
    @inline(__always)
    public func contains(_ activePower: Double, time: Instant, now: Instant) -> Bool {
        // A difference that overflows is very large as an unsigned number, and no gap is that large.
        low <= activePower && activePower <= high && after < time && time <= until
            && UInt64(bitPattern: time.nanoseconds &- after.nanoseconds) <= UInt64(bitPattern: gap)
            && now.nanoseconds &- time.nanoseconds >= lag
    }

    /// Narrows the band to this power and above.
    mutating func atLeast(_ watts: Double) { low = max(low, watts) }
    mutating func atMost(_ watts: Double) { high = min(high, watts) }
}

/// The state that each reading accesses: one or two cache lines per plug.
struct PlugMeter: Sendable {
    private(set) var band = QuietBand.nothing
    /// The last reading in watts, and its arrival on the controller's clock. Its time on the plug's clock is the band's
    /// `after`.
    private(set) var activePower = 0.0
    private(set) var arrival = Instant.zero
    private(set) var hasReading = false
    /// The maximum time between two readings of a dwell. A longer silence interrupts the dwell.
    private(set) var gap = RuleEngine.readingGap
    /// True if a rule watches the plug's appliance. Every reading then goes to the detector, also a reading in the
    /// band.
    private(set) var isWatched = false
}

extension PlugMeter {
    /// Makes the band empty until the next refresh computes it again. Keeps the last reading's time.
    mutating func closeBand() {
        let last = band.after
        band = .nothing
        band.after = last
    }

    /// Sets the range of quiet readings. ``closeBand()`` precedes this, because the range must start after the last
    /// reading.
    mutating func open(_ band: QuietBand) { self.band = band }

    mutating func watch(_ isWatched: Bool) { self.isWatched = isWatched }

    /// Prepares for the first reading of a plug that appeared.
    mutating func appear(gap: Duration) {
        hasReading = false
        self.gap = gap
    }

    mutating func expect(gap: Duration) { self.gap = gap }

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

    /// Converts a time on the plug's clock to the time on the controller's clock at which a reading of that time would
    /// have arrived with the last reading's delay.
    func arrival(of time: Instant) -> Instant {
        Instant(nanoseconds: arrival.nanoseconds &- (self.time.nanoseconds &- time.nanoseconds))
    }
}
