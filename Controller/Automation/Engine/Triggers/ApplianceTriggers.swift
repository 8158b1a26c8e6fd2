import ApplianceSense
import PlugModel
import ProtocolCore

/// A trigger on the appliance on a plug.
struct AppliancePlugTrigger: Sendable {
    let rule: Int
    let place: Int
    let change: ApplianceTrigger
    var seed: FiringSeed

    func isMet(by event: ApplianceEvent) -> Bool {
        switch (change, event) {
        case (.started(let wanted), .started(let kind, _)): wanted == nil || wanted == kind
        case (.finished(let wanted), .finished(let cycle)): wanted == nil || wanted == cycle.kind
        // A resumed cycle finishes again later, at its new end.
        case (.started, _), (.finished, _): false
        }
    }
}

/// The appliance on a plug that rules watch.
///
/// The times of its samples are on the controller's clock, in milliseconds: the plug's clock plus the offset at the
/// time when the plug appeared. Network delays of later readings therefore do not change the times. Recorded samples
/// use the same clock, so that the gap between them and the first reading has its real length.
struct WatchedAppliance: Sendable {
    /// The plug's name as the rules write it.
    let written: String
    var plug: Int?
    var triggers: [AppliancePlugTrigger] = []
    var sense = ApplianceSense()
    /// The offset from the plug's clock to the controller's, in nanoseconds; nil before the first reading.
    var shift: Int64?
    /// The events of the last reading that no rule has handled yet.
    var said: [ApplianceEvent] = []

    init(written: String) { self.written = written }

    mutating func take(_ other: WatchedAppliance) {
        (plug, sense, shift) = (other.plug, other.sense, other.shift)
    }

    /// Handles the plug's last reading. Its time is on the plug's clock. `isFirst` is true for the first reading since
    /// the plug appeared.
    mutating func take(deciwatts: Int32, time: Instant, isFirst: Bool = false, now: Instant) {
        let shift = (isFirst ? nil : shift) ?? (now.nanoseconds &- time.nanoseconds)
        self.shift = shift
        said = sense.handle(((time.nanoseconds &+ shift) / 1_000_000, deciwatts))
    }
}

extension RuleEngine {
    /// Feeds the plug's last reading to the detector of its appliance.
    mutating func sense(_ index: Int, now: Instant, isFirst: Bool, _ actions: inout [Action]) {
        guard let watched = slots[index].appliance else { return }
        let power = (max(0, min(slots[index].meter.activePower, 1e8)) * 10).rounded()
        appliances[watched].take(
            deciwatts: Int32(clamping: Int64(power)), time: slots[index].meter.time, isFirst: isFirst, now: now)
        tellSaid(of: watched, index, now: now, &actions)
    }

    /// Fires the rules for the appliance events of the plug's last reading.
    mutating func tellSaid(of watched: Int, _ index: Int, now: Instant, _ actions: inout [Action]) {
        guard !appliances[watched].said.isEmpty else { return }
        let said = appliances[watched].said
        appliances[watched].said = []
        for event in said { tell(event, of: watched, index, now: now, &actions) }
    }

    /// Handles samples that the plug measured before this engine followed it.
    mutating func recorded(_ name: String, _ samples: [RecordedPower]) {
        guard let index = plugs.index(of: name), let watched = slots[index].appliance else {
            return recordedUnseen(name, samples)
        }
        for sample in samples { _ = appliances[watched].sense.handle((sample.milliseconds, sample.deciwatts)) }
    }

    /// Handles samples of a plug that has not appeared yet. They go to each watched appliance that has no plug yet and
    /// whose written name means this plug.
    private mutating func recordedUnseen(_ name: String, _ samples: [RecordedPower]) {
        guard plugs.index(of: name) == nil else { return }
        for watched in appliances.indices
        where appliances[watched].plug == nil && plugs.means(appliances[watched].written, plugCalled: name) {
            for sample in samples { _ = appliances[watched].sense.handle((sample.milliseconds, sample.deciwatts)) }
        }
    }

    /// Fires the rules for one event. The age is zero even if the appliance started or finished in a gap between
    /// readings, because the detector could not report the event earlier.
    private mutating func tell(
        _ event: ApplianceEvent, of watched: Int, _ index: Int, now: Instant, _ actions: inout [Action]
    ) {
        var last: Int?
        for trigger in appliances[watched].triggers where trigger.rule != last && trigger.isMet(by: event) {
            last = trigger.rule
            let cause = Firing.Cause(
                states[trigger.rule].sources[trigger.place], plug: plugs[index].name, since: event.happened)
            fire(trigger.rule, cause, trigger.seed.key(event.number), age: .zero, now: now, &actions)
        }
    }
}

extension ApplianceEvent {
    /// The start or end of the cycle, on the clock of the samples.
    fileprivate var happened: Instant {
        let milliseconds =
            switch self {
            case .started(_, let start), .phase(_, let start): start
            case .resumed(let end, _): end
            case .finished(let cycle): cycle.end ?? cycle.start
            }
        let (nanoseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        return Instant(nanoseconds: overflow ? .max : nanoseconds)
    }

    /// The start or end of the cycle, as a number that is unique among the plug's events of one kind.
    fileprivate var number: UInt64 {
        switch self {
        case .started(_, let start), .phase(_, let start): UInt64(bitPattern: start)
        case .resumed(let end, _): UInt64(bitPattern: end)
        case .finished(let cycle): UInt64(bitPattern: (cycle.end ?? cycle.start) &* 2 &+ 1)
        }
    }
}
