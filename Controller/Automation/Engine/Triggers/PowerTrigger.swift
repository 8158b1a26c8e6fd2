import PlugModel
import ProtocolCore

/// A trigger on active power: its detector, its plug, and the remainder of an interrupted dwell.
struct PowerTrigger: Sendable {
    /// A dwell that was in progress when the plug or the controller went away. It continues if the next reading belongs
    /// to the same boot of the plug, is still beyond the threshold, and was measured within ``RuleEngine/restartGap``
    /// of the last one.
    struct Broken: Hashable, Sendable {
        /// The plug's id, or its name if it has no id.
        var plug: String
        var boot: BootID
        /// The start of the dwell on the plug's clock.
        var since: Instant
        /// The time of the last reading on the plug's clock.
        var latest: Instant
        /// The power of the last reading in watts.
        var value: Double
        /// True if the end of the dwell was reported as a near miss. It is not reported again.
        var isTold = false
    }

    let rule: Int
    /// The trigger's place in the rule.
    let place: Int
    let written: String
    /// The index of the plug; nil while it is absent.
    var plug: Int?
    var seed: FiringSeed?
    /// Stored without reference-counted parts, because each reading of the plug may access it.
    var detector: PowerDetector
    var broken: Broken?

    init(rule: Int, place: Int, written: String, shape: PowerDetector.Shape) {
        self.rule = rule
        self.place = place
        self.written = written
        detector = PowerDetector(shape)
    }

    /// Copies the state of an equal trigger of the previous set of rules.
    mutating func take(_ other: PowerTrigger) {
        detector = other.detector
        broken = other.broken
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
