import ProtocolCore

/// One trigger on active power: an edge detector with hysteresis and dwell.
///
/// Dwell is measured by the plug's reading times as far as readings have come, and continued on the controller's clock
/// from the arrival of the last one, since a plug that says nothing within its reporting interval has not changed. After
/// the plug's reading gap of silence that no longer holds: the dwell is cancelled and the next reading beyond the
/// threshold begins it anew. The last reading is the plug's ``PlugMeter``, so that one that changes nothing touches no trigger.
struct PowerDetector: Sendable {
    enum Shape: Hashable, Sendable {
        case threshold(PowerThreshold)
        case band(PowerBand)
    }

    enum State: Hashable, Sendable {
        /// No reading of this following of the plug yet: the next one only arms or disarms, or lets a dwell go on.
        case unknown
        /// The power has not been back past the hysteresis since it was last beyond the threshold.
        case disarmed
        case armed
        /// Beyond the threshold, waiting for the dwell to pass; since when on the plug's clock.
        case dwelling(since: Instant)
    }

    /// What became of a dwell that began at `since` on the plug's clock.
    enum Outcome: Hashable {
        case fires(since: Instant)
        case missed(since: Instant, lasted: Duration, NearMiss.End)
    }

    let shape: Shape
    private(set) var state = State.unknown

    init(_ shape: Shape) { self.shape = shape }

    var dwell: Duration {
        switch shape {
        case .threshold(let threshold): threshold.dwell
        case .band(let band): band.dwell
        }
    }

    /// Whether the power is beyond the threshold, or in the band.
    func isBeyond(_ watts: Double) -> Bool {
        switch shape {
        case .threshold(let threshold): threshold.isCrossed(by: watts)
        case .band(let band): band.low <= watts && watts <= band.high
        }
    }

    func isArmed(by watts: Double) -> Bool {
        switch shape {
        case .threshold(let threshold): threshold.isArmed(by: watts)
        case .band(let band): watts < band.armsBelow || watts > band.armsAbove
        }
    }

    // MARK: Steps

    /// What came before is not to be compared with what comes next.
    mutating func forget() { state = .unknown }

    /// A reading that only says where the power is: it arms or disarms, and never fires.
    mutating func settle(_ watts: Double) { state = isArmed(by: watts) ? .armed : .disarmed }

    /// A reading of now, later than the one before, which was at `latest`.
    mutating func follow(_ watts: Double, time: Instant, latest: Instant, gap: Duration) -> Outcome? {
        switch state {
        case .unknown, .disarmed:
            settle(watts)
            return nil
        case .armed: return isBeyond(watts) ? dwell(since: time, time: time) : nil
        case .dwelling(let since):
            guard isBeyond(watts) else {
                state = .armed
                return .missed(since: since, lasted: time - since, .wentBack(watts))
            }
            guard time - latest <= gap else {
                // What fires at once has no dwell, so that this one only begins.
                state = .dwelling(since: time)
                return .missed(since: since, lasted: latest - since, .silence)
            }
            return dwell(since: since, time: time)
        }
    }

    /// Beyond the threshold since then.
    mutating func dwell(since: Instant, time: Instant) -> Outcome? {
        // Most have none, and reckoning with durations takes longer than all the rest.
        guard time > since ? time - since < dwell : dwell > .zero else {
            state = .disarmed
            return .fires(since: since)
        }
        state = .dwelling(since: since)
        return nil
    }

    // MARK: Time

    /// When the dwell ends, and when the last reading is too old for it, both on the controller's clock.
    func deadlines(_ meter: PlugMeter) -> (due: Instant, silent: Instant)? {
        guard case .dwelling(let since) = state else { return nil }
        return (meter.arrival + (dwell - (meter.time - since)), meter.arrival + meter.gap)
    }

    /// The controller's clock has reached one of the deadlines. Nil: neither.
    mutating func deadlineReached(_ meter: PlugMeter, now: Instant) -> Outcome? {
        guard case .dwelling(let since) = state, let (due, silent) = deadlines(meter),
            min(due, silent) <= now
        else { return nil }
        guard due <= silent else {
            state = .armed
            return .missed(since: since, lasted: meter.time - since, .silence)
        }
        state = .disarmed
        return .fires(since: since)
    }

    // MARK: Quiet

    /// Leaves of the band what does not change the state.
    func narrow(_ band: inout QuietBand, _ meter: PlugMeter) {
        switch state {
        case .unknown: band.atMost(-.infinity)
        case .disarmed:
            switch shape {
            case .threshold(let threshold):
                switch threshold.direction {
                case .risesAbove: band.atLeast((threshold.watts - threshold.hysteresis).nextUp)
                case .fallsBelow: band.atMost((threshold.watts + threshold.hysteresis).nextDown)
                }
            case .band(let own):
                band.atLeast(own.armsBelow)
                band.atMost(own.armsAbove)
            }
        case .armed:
            switch shape {
            case .threshold(let threshold):
                switch threshold.direction {
                case .risesAbove: band.atMost(threshold.watts)
                case .fallsBelow: band.atLeast(threshold.watts)
                }
            case .band(let own):
                // On the side where it is now.
                if meter.activePower < own.low { band.atMost(own.low.nextDown) } else { band.atLeast(own.high.nextUp) }
            }
        case .dwelling(let since):
            switch shape {
            case .threshold(let threshold):
                switch threshold.direction {
                case .risesAbove: band.atLeast(threshold.watts.nextUp)
                case .fallsBelow: band.atMost(threshold.watts.nextDown)
                }
            case .band(let own):
                band.atLeast(own.low)
                band.atMost(own.high)
            }
            band.until = min(band.until, since + dwell - .nanoseconds(1))
            band.gap = min(band.gap, meter.gap.wholeNanoseconds)
            band.lag = max(band.lag, meter.arrival.nanoseconds &- meter.time.nanoseconds)
        }
    }
}
