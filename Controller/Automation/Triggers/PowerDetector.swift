import ProtocolCore
import RuleModel

/// One trigger on active power: an edge detector with hysteresis and dwell.
///
/// A dwell is measured by the readings' times on the plug's clock. After the last reading it continues on the
/// controller's clock from that reading's arrival, because a plug that is silent within its reporting interval has not
/// changed. A silence longer than the plug's reading gap cancels the dwell, and the next reading beyond the threshold
/// starts a new one. If the plug was lost during the silence and returns within ``RuleEngine/restartGap``,
/// ``PowerTrigger`` continues the dwell instead. The last reading is stored in the plug's ``PlugMeter``, so that a
/// reading that changes nothing accesses no trigger.
struct PowerDetector: Sendable {
    enum Shape: Hashable, Sendable {
        case threshold(PowerThreshold)
        case band(PowerBand)
    }

    enum State: Hashable, Sendable {
        /// No reading since the plug appeared. The next one only arms or disarms, or continues a dwell.
        case unknown
        /// The power has not been on the arming side of the hysteresis since the last firing, or since the plug
        /// appeared.
        case disarmed
        case armed
        /// Beyond the threshold, waiting for the end of the dwell. `since` is on the plug's clock.
        case dwelling(since: Instant)
    }

    /// The end of a dwell that began at `since` on the plug's clock.
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

    /// Returns true if the power is beyond the threshold, or in the band.
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

    /// Forgets the state. The next reading is not compared with earlier ones.
    mutating func forget() { state = .unknown }

    /// Handles a reading that only reports the present power: arms or disarms, and never fires.
    mutating func settle(_ watts: Double) { state = isArmed(by: watts) ? .armed : .disarmed }

    /// Handles a new reading. `latest` is the time of the previous reading. Returns nil if the reading ends no dwell.
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
                // The reading starts a new dwell. A trigger without a dwell is never in this state, so the reading
                // never fires at once.
                state = .dwelling(since: time)
                return .missed(since: since, lasted: latest - since, .silence)
            }
            return dwell(since: since, time: time)
        }
    }

    /// Starts or continues a dwell, and returns nil. If the dwell is complete, returns an outcome that fires.
    mutating func dwell(since: Instant, time: Instant) -> Outcome? {
        // Most triggers have no dwell, and arithmetic with durations is the slowest part of this function.
        guard time > since ? time - since < dwell : dwell > .zero else {
            state = .disarmed
            return .fires(since: since)
        }
        state = .dwelling(since: since)
        return nil
    }

    // MARK: Time

    /// Returns the end of the dwell, and the time at which the last reading is too old for it, both on the controller's
    /// clock. Nil if no dwell is in progress.
    func deadlines(_ meter: PlugMeter) -> (due: Instant, silent: Instant)? {
        guard case .dwelling(let since) = state else { return nil }
        return (meter.arrival + (dwell - (meter.time - since)), meter.arrival + meter.gap)
    }

    /// Handles a deadline on the controller's clock. Returns nil before the first of the two deadlines.
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

    /// Narrows the band to the readings that do not change the state.
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
                // The power is outside the trigger's band. The quiet readings are those on the same side.
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
