import PlugModel
import ProtocolCore

/// A trigger on active power: its detector, its plug, and the remainder of an interrupted dwell.
struct PowerTrigger: PlacedTrigger, Sendable {
    /// A dwell that was in progress when the plug or the controller went away. It continues if the next reading belongs
    /// to the same boot of the plug, is still beyond the threshold, and was measured at most ``RuleEngine/restartGap``
    /// after the last reading before the interruption.
    struct Broken: Hashable, Sendable {
        /// The plug's id, or its name if it has no id.
        let plug: String
        let boot: BootID
        /// The start of the dwell on the plug's clock.
        let since: Instant
        /// The time of the last reading on the plug's clock.
        let latest: Instant
        /// The power of the last reading in watts.
        let value: Double
        /// True if the end of the dwell was reported as a near miss. It is not reported again.
        private(set) var isTold = false
    }

    let place: TriggerPlace
    let written: String
    /// The index of the plug; nil while it is absent.
    private(set) var plug: Int?
    private(set) var seed: FiringSeed?
    /// Stored without reference-counted parts, because each reading of the plug may access it.
    private(set) var detector: PowerDetector
    private(set) var broken: Broken?

    init(_ place: TriggerPlace, written: String, shape: PowerDetector.Shape) {
        (self.place, self.written) = (place, written)
        detector = PowerDetector(shape)
    }

    /// Copies the state of an equal trigger of the previous set of rules.
    mutating func inherit(_ other: PowerTrigger) {
        (plug, detector, broken) = (other.plug, other.detector, other.broken)
    }

    /// Sets the plug; nil while it is absent. A trigger whose plug changes forgets its state.
    mutating func bind(_ plug: Int?, seed: FiringSeed?) {
        if plug != self.plug { detector.forget() }
        self.plug = plug
        if let seed { self.seed = seed }
    }

    /// Restores a dwell of an earlier process.
    mutating func restore(_ dwell: Broken) { broken = dwell }

    /// Forgets the state and the interrupted dwell, because the plug started again.
    mutating func forget() {
        broken = nil
        detector.forget()
    }

    /// Handles a reading after the reading in `before`.
    mutating func follow(_ watts: Double, time: Instant, after before: PlugMeter, of plug: PlugTable.Plug)
        -> PowerDetector.Outcome?
    {
        detector.state == .unknown
            ? settle(watts, time: time, of: plug)
            : detector.follow(watts, time: time, latest: before.time, gap: before.gap)
    }

    /// Handles the loss of the plug, or a new snapshot. `meter` contains the last reading.
    mutating func interrupt(_ plug: PlugTable.Plug, _ meter: PlugMeter) {
        if case .dwelling(let since) = detector.state {
            keep(since: since, plug, meter, isTold: false)
        } else if !isBroken(plug, meter) {
            broken = nil
        }
        detector.forget()
    }

    /// Handles a deadline of the detector on the controller's clock. The silence may be the start of a loss that is not
    /// detected yet, so the interrupted dwell is stored.
    mutating func deadlineReached(_ plug: PlugTable.Plug, _ meter: PlugMeter, now: Instant) -> PowerDetector.Outcome? {
        let outcome = detector.deadlineReached(meter, now: now)
        if case .missed(let since, _, _) = outcome { keep(since: since, plug, meter, isTold: true) }
        return outcome
    }

    private mutating func keep(since: Instant, _ plug: PlugTable.Plug, _ meter: PlugMeter, isTold: Bool) {
        guard let boot = plug.boot else { return }
        broken = Broken(
            plug: plug.lasting, boot: boot, since: since, latest: meter.time, value: meter.activePower, isTold: isTold)
    }

    /// Returns true if the interrupted dwell may still continue. False after the next reading, even if that reading was
    /// quiet.
    func isBroken(_ plug: PlugTable.Plug, _ meter: PlugMeter) -> Bool {
        guard let broken else { return false }
        return detector.state == .unknown || broken.plug != plug.lasting || broken.latest == meter.time
    }

    /// Handles a reading that reports the present power. It fires only if it completes an interrupted dwell.
    mutating func settle(_ watts: Double, time: Instant, of plug: PlugTable.Plug) -> PowerDetector.Outcome? {
        guard let old = broken, old.plug == plug.lasting else {
            detector.settle(watts)
            return nil
        }
        broken = nil
        let isNear = old.boot == plug.boot && old.latest <= time && time - old.latest <= RuleEngine.restartGap
        guard isNear, detector.isBeyond(watts) else {
            detector.settle(watts)
            if old.isTold { return nil }
            return .missed(
                since: old.since, lasted: (isNear ? time : old.latest) - old.since,
                isNear ? .wentBack(watts) : .silence)
        }
        return detector.dwell(since: old.since, time: time)
    }
}
