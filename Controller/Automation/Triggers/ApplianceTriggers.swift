import ApplianceSense
import PlugModel
import ProtocolCore
import RuleModel

/// A trigger on the appliance on a plug.
struct AppliancePlugTrigger: Sendable {
    let place: TriggerPlace
    let change: ApplianceTrigger
    let seed: FiringSeed

    func isMet(by event: ApplianceEvent) -> Bool {
        switch (change, event) {
        case (.started(let wanted), .started(let kind, _)): wanted == nil || wanted == kind
        case (.probablyFinished(let wanted), .probablyFinished(let cycle)),
            (.finished(let wanted), .finished(let cycle)):
            wanted == nil || wanted == cycle.kind
        // A resumed cycle finishes again later, at its new end.
        case (.started, _), (.probablyFinished, _), (.finished, _): false
        }
    }
}

/// The appliance on a plug that rules watch.
///
/// The times of its samples are on the controller's clock, in milliseconds: the plug's clock plus the offset at the
/// first reading after the plug appeared. Network delays of later readings therefore do not change the times. Recorded
/// samples use the same clock, so that the gap between them and the first reading has its real length.
struct WatchedAppliance: Sendable {
    /// The plug's name as the rules write it.
    let written: String
    private(set) var plug: Int?
    private(set) var triggers: [AppliancePlugTrigger] = []
    private var sense = ApplianceSense()
    /// True if the profile was learned by an earlier process.
    private var isRestored = false
    /// The offset from the plug's clock to the controller's, in nanoseconds; nil before the first reading.
    private var shift: Int64?
    /// The events of the last reading that no rule has handled yet.
    private var said: [ApplianceEvent] = []

    init(written: String) { self.written = written }

    /// True if the last reading's events are not handled yet.
    var hasEvents: Bool { !said.isEmpty }

    mutating func add(_ trigger: AppliancePlugTrigger) { triggers.append(trigger) }

    /// Sets the plug. If the plug changes, the detector starts again, because a different plug has a different
    /// appliance.
    mutating func bind(_ plug: Int) {
        if let old = self.plug, old != plug { (sense, isRestored) = (ApplianceSense(), false) }
        self.plug = plug
    }

    /// Removes and returns the events of the last reading.
    mutating func takeEvents() -> [ApplianceEvent] {
        defer { said = [] }
        return said
    }

    /// Feeds recorded samples to the detector, and drops the events that it reports for them. A profile of an earlier
    /// process does not change, because that process has learned from these samples already.
    mutating func learn(_ samples: [RecordedPower]) {
        let known = sense.profile
        for sample in samples { _ = sense.handle((sample.milliseconds, sample.deciwatts)) }
        if isRestored { sense.profile = known }
    }

    /// The learned profile; nil if it is empty.
    var stored: EngineMemory.Appliance? {
        sense.profile == ApplianceProfile() ? nil : EngineMemory.Appliance(plug: written, profile: sense.profile)
    }

    /// Continues with the profile of an earlier process.
    mutating func restore(_ profile: ApplianceProfile) {
        sense = ApplianceSense(learned: profile)
        isRestored = true
    }

    /// Copies the state of the appliance of the previous set of rules.
    mutating func inherit(_ other: WatchedAppliance) {
        (plug, sense, isRestored, shift) = (other.plug, other.sense, other.isRestored, other.shift)
    }

    /// Handles the plug's last reading. Its time is on the plug's clock. `isFirst` is true for the first reading since
    /// the plug appeared.
    mutating func add(deciwatts: Int32, time: Instant, isFirst: Bool = false, now: Instant) {
        let shift = (isFirst ? nil : shift) ?? (now.nanoseconds &- time.nanoseconds)
        self.shift = shift
        said = sense.handle(((time.nanoseconds &+ shift) / 1_000_000, deciwatts))
    }
}

/// The appliances that rules watch.
struct ApplianceTriggers: Sendable {
    private var appliances: [WatchedAppliance] = []

    mutating func add(_ trigger: AppliancePlugTrigger, written plug: String) {
        if let index = appliances.firstIndex(where: { $0.written.lowercased() == plug.lowercased() }) {
            return appliances[index].add(trigger)
        }
        var appliance = WatchedAppliance(written: plug)
        appliance.add(trigger)
        appliances.append(appliance)
    }

    /// Continues after the previous set of rules. The state of an appliance belongs to the plug's written name. It is
    /// kept even if other rules watch the plug now.
    mutating func inherit(_ old: ApplianceTriggers) {
        for index in appliances.indices {
            let before = old.appliances.first { $0.written.lowercased() == appliances[index].written.lowercased() }
            if let before { appliances[index].inherit(before) }
        }
    }

    /// The learned profiles.
    var stored: [EngineMemory.Appliance] { appliances.compactMap(\.stored) }

    /// Restores the profiles of an earlier engine, for the plugs that rules still watch.
    mutating func restore(_ memory: [EngineMemory.Appliance]) {
        for index in appliances.indices {
            let known = memory.first { $0.plug.lowercased() == appliances[index].written.lowercased() }
            if let known { appliances[index].restore(known.profile) }
        }
    }

    /// Finds the plugs of the appliances.
    mutating func bind(_ house: inout HouseState) {
        for place in appliances.indices {
            guard let plug = house.plugs.find(appliances[place].written).index else { continue }
            appliances[place].bind(plug)
            house[plug].bind(appliance: place)
        }
    }

    /// Feeds the plug's last reading to the detector of its appliance, and fires the rules.
    mutating func handle(
        _ index: Int, now: Instant, isFirst: Bool, _ house: inout HouseState, _ executor: inout RuleExecutor,
        _ actions: inout [RuleEngineAction]
    ) {
        guard let watched = house[index].appliance else { return }
        let power = (max(0, min(house[index].meter.activePower, 1e8)) * 10).rounded()
        appliances[watched].add(
            deciwatts: Int32(clamping: Int64(power)), time: house[index].meter.time, isFirst: isFirst, now: now)
        fireEvents(index, now: now, &house, &executor, &actions)
    }

    /// Handles samples of a plug while its readings are quiet, for ``RuleEngine/watch(_:_:)``. Returns the number of
    /// handled samples.
    mutating func watch(_ slot: inout PlugSlot, _ samples: Span<RecordedPower>, until due: Instant) -> Int {
        guard slot.meter.isWatched, let watched = slot.appliance else { return 0 }
        var count = 0
        while count < samples.count {
            let (watts, time) = (samples[count].activePower, samples[count].time)
            guard time < due, slot.meter.band.contains(watts, time: time, now: time) else { break }
            slot.meter.keep(watts, time: time, now: time)
            appliances[watched].add(deciwatts: max(0, samples[count].deciwatts), time: time, now: time)
            count += 1
            if appliances[watched].hasEvents { break }
        }
        return count
    }

    /// Returns true if events of the plug's last sample are not handled yet.
    func hasEvents(_ slot: PlugSlot) -> Bool { slot.appliance.map { appliances[$0].hasEvents } ?? false }

    /// Fires the rules for the appliance events of the plug's last reading.
    mutating func fireEvents(
        _ index: Int, now: Instant, _ house: inout HouseState, _ executor: inout RuleExecutor,
        _ actions: inout [RuleEngineAction]
    ) {
        guard let watched = house[index].appliance, appliances[watched].hasEvents else { return }
        for event in appliances[watched].takeEvents() {
            fire(event, of: appliances[watched], index, now: now, &house, &executor, &actions)
        }
    }

    /// Fires the rules for one event. The age is zero even if the appliance started or finished in a gap between
    /// readings, because the detector could not report the event earlier.
    private func fire(
        _ event: ApplianceEvent, of appliance: WatchedAppliance, _ index: Int, now: Instant,
        _ house: inout HouseState, _ executor: inout RuleExecutor, _ actions: inout [RuleEngineAction]
    ) {
        var last: Int?
        for trigger in appliance.triggers where trigger.place.rule != last && trigger.isMet(by: event) {
            last = trigger.place.rule
            let cause = Firing.Cause(
                executor.rules.source(of: trigger.place), plug: house.plugs[index].name, since: event.happened)
            executor.fire(
                trigger.place.rule, cause, trigger.seed.key(event.number), age: .zero, now: now, &house, &actions)
        }
    }

    /// Handles samples that the plug measured before this engine followed it. The samples of a plug that has not
    /// appeared yet go to each watched appliance that has no plug yet and whose written name means this plug.
    mutating func recorded(_ name: String, _ samples: [RecordedPower], _ house: HouseState) {
        if let index = house.plugs.index(of: name) {
            if let watched = house[index].appliance { appliances[watched].learn(samples) }
            return
        }
        for watched in appliances.indices
        where appliances[watched].plug == nil && house.plugs.means(appliances[watched].written, plugCalled: name) {
            appliances[watched].learn(samples)
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
            case .probablyFinished(let cycle), .finished(let cycle): cycle.end ?? cycle.start
            }
        let (nanoseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        return Instant(nanoseconds: overflow ? .max : nanoseconds)
    }

    /// The start or end of the cycle, as a number that is unique among the plug's events of one kind.
    fileprivate var number: UInt64 {
        switch self {
        case .started(_, let start), .phase(_, let start): UInt64(bitPattern: start)
        case .resumed(let end, _): UInt64(bitPattern: end)
        case .probablyFinished(let cycle), .finished(let cycle):
            UInt64(bitPattern: (cycle.end ?? cycle.start) &* 2 &+ 1)
        }
    }
}
