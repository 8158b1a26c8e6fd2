import PlugModel
import ProtocolCore

/// A trigger on active power: its detector, whose plug it is about, and what is left of a dwell that was broken off.
struct PowerTrigger: Sendable {
    /// A dwell that was under way when the plug, or the controller, went away. It goes on where the next reading is of the same boot
    /// of the plug, still beyond, and not much later.
    struct Broken: Hashable, Sendable {
        /// The plug's id, or its name where it has none.
        var plug: String
        var boot: BootID
        /// On the plug's clock.
        var since: Instant
        var latest: Instant
        var value: Double
        /// Its end was told as a near miss, so that it is not told again.
        var isTold = false
    }

    let rule: Int
    /// Its place among the rule's triggers.
    let place: Int
    let written: String
    /// The plug that it listens to now.
    var plug: Int?
    var seed: FiringSeed?
    /// Apart from the rest, and without anything that is counted, since each reading of the plug may touch it.
    var detector: PowerDetector
    var broken: Broken?

    init(rule: Int, place: Int, written: String, shape: PowerDetector.Shape) {
        self.rule = rule
        self.place = place
        self.written = written
        detector = PowerDetector(shape)
    }

    /// Takes the state of an equal trigger of an earlier set of rules.
    mutating func take(_ other: PowerTrigger) {
        detector = other.detector
        broken = other.broken
    }

    /// The plug went away, or begins anew with a snapshot; the last reading is the meter's.
    mutating func interrupt(_ plug: PlugTable.Plug, _ meter: PlugMeter) {
        if case .dwelling(let since) = detector.state {
            keep(since: since, plug, meter, isTold: false)
        } else if !isBroken(plug, meter) {
            broken = nil
        }
        detector.forget()
    }

    /// The controller's clock has reached one of the detector's deadlines. Silence may be the beginning of a loss that nobody has
    /// noticed yet, so that what it broke off is kept.
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

    /// Whether what is left of a dwell may still go on: not where the plug was heard since, also with what was quiet.
    func isBroken(_ plug: PlugTable.Plug, _ meter: PlugMeter) -> Bool {
        guard let broken else { return false }
        return detector.state == .unknown || broken.plug != plug.lasting || broken.latest == meter.time
    }

    /// A reading that says where the power is: it never fires, but where a dwell that was broken off goes on.
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
