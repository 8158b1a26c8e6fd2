import HouseCalendar
package import PlugModel
public import ProtocolCore
public import RuleModel

/// Runs rules: handles events of the plugs and returns firings and commands.
///
/// An edge is a change that matches a trigger of a rule. If the trigger has a dwell, the change must last for this
/// time. A rule fires only on an edge that this engine observed. These inputs arm or disarm triggers and update the
/// state, but are not edges: the first reading after the engine started, after a plug appeared or returned, or of a new
/// boot of the plug; a snapshot. An edge that is older than the rule accepts, or whose age is unknown, is held back. A
/// dwell in progress continues after a silence of at most ``restartGap`` within one boot of the plug, so the first
/// reading after the silence may complete the dwell and fire.
///
/// A plug name is resolved in this order: the id to which the name is bound; the paired plug of that name; the exact
/// announced name; the only present plug whose name differs only in capitals.
///
/// A rule's conditions are evaluated once, when an edge arrives. Then its actions follow in order; in queued mode they
/// may start later. If several triggers of a rule match the same edge, the rule fires once. The end of a firing that
/// waited is reported with ``RunStep/finished``. For any other firing, the call that returns the firing also returns
/// all its actions.
public struct RuleEngine: Machine, Sendable {
    public typealias Event = RuleEngineEvent
    public typealias Action = RuleEngineAction

    /// The default silence after which a dwell is interrupted. The value must exceed the plugs' reporting interval.
    public static let readingGap = Duration.seconds(5)
    /// The maximum number of stored plug names; further plugs are ignored. Stops a network that keeps announcing new
    /// names from filling the memory.
    public static let maximumPlugs = 1024

    /// The current rules.
    public var rules: [Rule] { executor.rules.rules }
    /// The names of the rules that the user disabled.
    public var disabled: Set<String> { executor.rules.disabled }

    /// The plugs and the calendar.
    private(set) var house = HouseState()
    /// The rules, and their runs in progress.
    private(set) var executor: RuleExecutor
    private var power = PowerTriggers()
    private var events = EventTriggers()
    private var energies = EnergyTriggers()
    private var presence = PresenceTriggers()
    private var schedules = ScheduleTriggers()
    private var appliances = ApplianceTriggers()
    private var timers = TimerTriggers()
    /// The time of the last event that was not a quiet reading.
    private var latest = Instant.zero
    /// True if triggers or plugs changed within this event, so that every quiet band is computed again.
    private var quietBandsNeedRefresh = false
    /// The actions that restoring the memory produced. They are returned with the result of the first event.
    private var startupActions: [Action] = []

    /// Creates an engine. The rules must have different names.
    ///
    /// - Parameter memory: the stored state of an earlier engine. State of removed rules is ignored.
    public init(rules: [Rule], memory: EngineMemory = EngineMemory()) {
        executor = RuleExecutor(rules)
        addTriggers()
        restore(memory)
    }

    /// The next time at which work is due; nil if no work is due before the next event. It may be too early, because a
    /// quiet reading does not postpone it.
    public var nextDeadline: Instant? {
        if !startupActions.isEmpty { return latest }
        return sooner(
            sooner(power.deadline, presence.deadline), sooner(schedules.deadline, executor.runs.deadline))
    }

    /// Sets the plugs to which names in rules are bound. A name that is not bound is searched among the names of the
    /// present plugs.
    ///
    /// - Parameter paired: the names of all paired plugs. Such a name means only its paired plug. Nil if unknown.
    package mutating func bind(_ names: [String: PlugID], paired: PairedNames? = nil) {
        if house.plugs.bind(names, paired: paired ?? PairedNames()) { bind() }
    }

    /// Sets the names of the plugs that an earlier process knew. If such a plug is absent, a script's command for it is
    /// stored: for the rule's `remembersAway`, or for ``reunion`` if the rule states no duration.
    package mutating func expectPlugs(_ names: some Sequence<String>) { executor.expectPlugs(names) }

    /// Handles one event and returns the resulting firings, commands and steps.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        if case .reading(let plug, let activePower, let time, false) = event {
            // The fast path calls `begin` and `finish` itself.
            return house.plugs.index(of: plug).map {
                read(PlugIndex(value: $0), activePower: activePower, time: time, now: now)
            } ?? []
        }
        var actions: [Action] = []
        begin(now: now, &actions)
        handle(event, now: now, &actions)
        finish(now: now, &actions)
        return actions
    }

    private mutating func handle(_ event: Event, now: Instant, _ actions: inout [Action]) {
        switch event {
        case .rulesChanged(let rules): replace(rules, now: now, &actions)
        case .ruleEnabled(let rule, let isOn): executor.enable(rule, isOn, &actions)
        case .ruleRun(let rule, let id): executor.runByHand(rule, id: id, now: now, &house, &actions)
        case .plugAppeared(let plug, let state, let boot, let id, let gap):
            appear(plug, state, boot, id, gap: gap, now: now, &actions)
        case .plugLost(let plug): lose(plug, now: now)
        case .reading(let plug, let activePower, let time, _):
            guard let index = house.plugs.index(ofPresent: plug), !activePower.isNaN else { return }
            power.interrupt(index, &house, executor.runs)
            settle(index, activePower, time: time, now: now, &actions)
        case .energy(let plug, let milliwattHours):
            guard let index = house.plugs.index(ofPresent: plug) else { return }
            energies.handle(milliwattHours, of: index, now: now, &house, &executor, &actions)
        case .state(let plug, let on, let level):
            guard let index = house.plugs.index(ofPresent: plug) else { return }
            setState(index, on: on, level: level)
        case .happened(let plug, let event, let age): happened(plug, event, age: age, now: now, &actions)
        case .gap(let plug, let last): house.plugs.gap(plug, to: last)
        case .recorded(let plug, let samples): appliances.recorded(plug, samples, house)
        case .commandResumed(let request):
            guard let index = house.plugs.index(ofPresent: request.plug) else { return }
            house.plugs.expect(request, at: index)
        case .commandFinished(let plug, let id, let outcome): finished(plug, id, outcome)
        case .clockChanged(let time, let sun):
            let old = house.localTime
            house.setClock(time, sun)
            schedules.clockChanged(from: old, now: now, house)
        case .timerEnded(let timer, let call, let age):
            timers.ended(timer, startedBy: call, age: age, now: now, &house, &executor, &actions)
        case .scriptAnswered(let call, let wanted): executor.answered(call, wanted, &house, &actions)
        case .deadlineReached: break
        }
    }

    // MARK: Each event

    private mutating func begin(now: Instant, _ actions: inout [Action]) {
        latest = now
        executor.begin()
        guard !startupActions.isEmpty else { return }
        actions += startupActions
        startupActions = []
    }

    /// Runs what is due and resumes runs whose wait has ended.
    private mutating func finish(now: Instant, _ actions: inout [Action]) {
        power.endDwells(now: now, &house, &executor, &actions)
        presence.endDwells(now: now, &house, &executor, &actions)
        schedules.endSchedules(now: now, &house, &executor, &actions)
        executor.wakeRuns(now: now, &house, &actions)
        let conditionsChanged = executor.conditionsChanged()
        guard quietBandsNeedRefresh || conditionsChanged else { return }
        quietBandsNeedRefresh = false
        for index in 0..<house.plugs.count { power.refresh(index, &house, executor.runs) }
    }

    // MARK: Rules

    /// Adds the triggers of the rules.
    private mutating func addTriggers() {
        for (index, rule) in executor.rules.rules.enumerated() {
            for (place, trigger) in rule.triggers.enumerated() {
                add(trigger, TriggerPlace(rule: index, place: place), of: rule.name)
            }
        }
    }

    private mutating func add(_ trigger: Trigger, _ place: TriggerPlace, of rule: String) {
        switch trigger {
        case .activePower(let plug, let threshold):
            power.add(PowerTrigger(place, written: plug, shape: .threshold(threshold)))
        case .activePowerStays(let plug, let band):
            power.add(PowerTrigger(place, written: plug, shape: .band(band)))
        case .activeEnergy(let plug, let threshold):
            let key = EngineMemory.key(rule: rule, trigger: trigger)
            energies.add(EnergyTrigger(place, written: plug, threshold: threshold, key: key))
        case .button(let plug, let press): events.add(EventTrigger(place, written: plug, kind: .button(press)))
        case .relay(let plug, let on): events.add(EventTrigger(place, written: plug, kind: .relay(on: on)))
        case .protection(let plug, let protection):
            events.add(EventTrigger(place, written: plug, kind: .protection(protection)))
        case .lost(let plug, let dwell):
            presence.add(PresenceTrigger(place, written: plug, isLost: true, dwell: dwell))
        case .back(let plug, let dwell):
            presence.add(PresenceTrigger(place, written: plug, isLost: false, dwell: dwell))
        case .appliance(let plug, let change):
            let seed = FiringSeed("appliance", rule: rule, trigger: place.place, plug: plug)
            appliances.add(AppliancePlugTrigger(place: place, change: change, seed: seed), written: plug)
        case .schedule(let schedule):
            let seed = FiringSeed("schedule", rule: rule, trigger: place.place)
            schedules.add(ScheduleTrigger(place, schedule, seed: seed))
        // The rule table stores which rules fire each other.
        case .rule: break
        case .timer(let timer): timers.add(place, timer)
        }
    }

    /// Replaces the rules. A rule that is equal to a previous one keeps its runtime state; the runs of all other rules
    /// end. A new trigger does not treat the present state as an edge.
    private mutating func replace(_ rules: [Rule], now: Instant, _ actions: inout [Action]) {
        let old = self
        let kept = executor.replace(rules, &actions)
        (power, events, energies) = (PowerTriggers(), EventTriggers(), EnergyTriggers())
        (presence, schedules) = (PresenceTriggers(), ScheduleTriggers())
        (appliances, timers) = (ApplianceTriggers(), TimerTriggers())
        addTriggers()
        power.inherit(old.power, kept)
        presence.inherit(old.presence, kept)
        appliances.inherit(old.appliances)
        energies.inherit(old.energies, &house)
        bind()
        for index in 0..<house.plugs.count where house.plugs[index].isPresent && house[index].meter.hasReading {
            power.settleNew(index, house)
        }
        schedules.inherit(old.schedules, kept, now: now, house)
        presence.findDeadline()
    }

    /// Finds the plug of each trigger and action among the present plugs. A trigger whose plug changes forgets its
    /// state.
    private mutating func bind() {
        house.unbind()
        power.bind(&house, executor.rules)
        events.bind(&house, executor.rules)
        energies.bind(&house, executor.rules)
        presence.bind(house.plugs)
        appliances.bind(&house)
        executor.bind(house.plugs)
        quietBandsNeedRefresh = true
    }

    // MARK: Plugs

    private mutating func appear(
        _ name: String, _ state: PlugState, _ boot: BootID?, _ id: PlugID?, gap: Duration, now: Instant,
        _ actions: inout [Action]
    ) {
        // A snapshot without a preceding loss interrupts dwells like a loss.
        if let known = house.plugs.index(ofPresent: name) { power.interrupt(known, &house, executor.runs) }
        let wasOn = house.plugs.index(of: name).map { house.plugs[$0].relayOn }
        guard let index = house.appear(name, state, boot: boot, id: id, gap: gap) else { return }
        bind()
        executor.plugAppeared()
        if let wasOn, !wasOn, state.relayOn { energies.turnedOn(index, &house) }
        if let reading = state.reading {
            settle(index, reading.activePower, time: reading.time, now: now, &actions)
        } else {
            power.refresh(index, &house, executor.runs)
        }
        presence.returned(index, now: now)
    }

    private mutating func lose(_ name: String, now: Instant) {
        guard let index = house.plugs.index(ofPresent: name) else { return }
        power.interrupt(index, &house, executor.runs)
        house.plugs.lose(index)
        house[index].meter.closeBand()
        presence.wentAway(index, now: now)
        bind()
    }

    /// Handles the present state of relay and dimmer.
    private mutating func setState(_ index: Int, on: Bool, level: DimLevel?) {
        if house.plugs.set(on: on, level: level, at: index) { energies.turnedOn(index, &house) }
    }

    private mutating func finished(_ name: String, _ id: RequestID, _ outcome: CommandOutcome) {
        guard let index = house.plugs.index(ofPresent: name) else { return }
        switch outcome {
        case .done(let result, _): setState(index, on: result.relayOn, level: result.level)
        case .refused: break
        }
        house.plugs.answered(id.key, at: index)
    }

    private mutating func happened(
        _ name: String, _ event: PlugEvent, age: Duration?, now: Instant, _ actions: inout [Action]
    ) {
        guard let index = house.plugs.index(ofPresent: name), house.plugs.isNews(event.sequence, from: index) else {
            return
        }
        if case .relayChanged(_, let cause) = event.kind {
            executor.relaySwitched(house.plugs[index], cause: cause)
            if case .controller(_, let request, _) = cause { house.plugs.answered(request.key, at: index) }
        }
        events.handle(event, of: index, age: age, now: now, &house, &executor, &actions)
    }

    // MARK: Readings

    /// Returns the plug with exactly this announced name; nil before it appears.
    public func index(of plug: String) -> PlugIndex? { house.plugs.index(of: plug).map { PlugIndex(value: $0) } }

    /// Returns the range of readings that need no call of ``read(_:activePower:time:now:)``. The caller passes the last
    /// skipped reading to ``skip(_:activePower:time:now:)``.
    public func quietBand(of plug: PlugIndex) -> QuietBand {
        isWatched(plug) ? .nothing : house[plug.value].meter.band
    }

    /// Returns true if a rule watches the plug's appliance. None of the plug's readings is quiet then.
    public func isWatched(_ plug: PlugIndex) -> Bool { house[plug.value].meter.isWatched }

    /// Handles a reading that is not a snapshot. A quiet reading causes no actions.
    ///
    /// - Parameters:
    ///   - activePower: watts.
    ///   - time: the time on the plug's clock.
    public mutating func read(_ plug: PlugIndex, activePower: Double, time: Instant, now: Instant) -> [Action] {
        if house[plug.value].meter.takesQuietly(activePower, time: time, now: now) { return [] }
        var actions: [Action] = []
        begin(now: now, &actions)
        follow(plug.value, activePower, time: time, now: now, &actions)
        finish(now: now, &actions)
        return actions
    }

    /// Sets the silence that interrupts a dwell, after the plug's reporting interval changed.
    public mutating func expect(readingGap: Duration, of plug: PlugIndex) {
        house[plug.value].meter.expect(gap: readingGap)
        // The band and the ends of dwells depend on the gap.
        power.refresh(plug.value, &house, executor.runs)
    }

    /// Skips readings. The caller guarantees that every skipped reading, including this one, was in the quiet band.
    public mutating func skip(_ plug: PlugIndex, activePower: Double, time: Instant, now: Instant) {
        house[plug.value].meter.keep(activePower, time: time, now: now)
    }

    /// Handles a reading that is not a snapshot and not quiet.
    private mutating func follow(
        _ index: Int, _ watts: Double, time: Instant, now: Instant, _ actions: inout [Action]
    ) {
        // NaN cannot be compared with a threshold.
        guard !watts.isNaN, house.plugs[index].isPresent else { return }
        let before = house[index].meter
        if before.isWatched, before.band.contains(watts, time: time, now: now) {
            house[index].meter.keep(watts, time: time, now: now)
            return sense(index, isFirst: false, now: now, &actions)
        }
        // The plug repeats its last reading when another part of its state changes.
        if before.hasReading, before.time == time { return }
        // A time before the last reading's time belongs to a different boot.
        guard !before.hasReading || before.time < time else {
            power.forget(house[index])
            return settle(index, watts, time: time, now: now, &actions)
        }
        house[index].meter.keep(watts, time: time, now: now)
        power.follow(index, watts, time: time, after: before, now: now, &house, &executor, &actions)
        sense(index, isFirst: !before.hasReading, now: now, &actions)
    }

    /// Handles a reading that reports the present power, not a change.
    private mutating func settle(
        _ index: Int, _ watts: Double, time: Instant, now: Instant, _ actions: inout [Action]
    ) {
        guard !watts.isNaN, house.plugs[index].isPresent else { return }
        let isFirst = !house[index].meter.hasReading
        house[index].meter.keep(watts, time: time, now: now)
        power.settle(index, watts, time: time, now: now, &house, &executor, &actions)
        sense(index, isFirst: isFirst, now: now, &actions)
    }

    /// Feeds the plug's last reading to the detector of its appliance.
    private mutating func sense(_ index: Int, isFirst: Bool, now: Instant, _ actions: inout [Action]) {
        appliances.handle(index, now: now, isFirst: isFirst, &house, &executor, &actions)
    }

    /// Makes the quiet ranges of all plugs empty, so that the next reading and the next counter value of each plug are
    /// handled.
    mutating func closeQuietRanges() {
        for index in 0..<house.plugs.count {
            house[index].meter.closeBand()
            house[index].counter.closeQuiet()
        }
    }

    // MARK: Recorded samples

    /// Handles samples of a watched plug as if each had arrived at the time of its measurement. Stops before a sample
    /// to which a trigger reacts or at which something is due, and after a sample at which the detector reports an
    /// event. A call followed by ``hear(_:now:)`` is equivalent to ``read(_:activePower:time:now:)`` for each sample,
    /// and faster.
    ///
    /// - Returns: the number of handled samples. The caller passes the next one to ``read(_:activePower:time:now:)``.
    public mutating func watch(_ plug: PlugIndex, _ samples: Span<RecordedPower>) -> Int {
        // Runs that wait for a condition are checked at each reading.
        guard executor.runs.waiting == 0 else { return 0 }
        let due = nextDeadline ?? Instant(nanoseconds: .max)
        return appliances.watch(&house[plug.value], samples, until: due)
    }

    /// Handles the appliance events of the last sample.
    public mutating func hear(_ plug: PlugIndex, now: Instant) -> [Action] {
        guard appliances.hasEvents(house[plug.value]) else { return [] }
        var actions: [Action] = []
        begin(now: now, &actions)
        appliances.fireEvents(plug.value, now: now, &house, &executor, &actions)
        finish(now: now, &actions)
        return actions
    }

    // MARK: Energies

    /// Returns true if a rule uses ``RuleEngineEvent/energy(plug:milliwattHours:)`` of the plug.
    public func asksEnergy(of plug: PlugIndex) -> Bool { !house[plug.value].energies.isEmpty }

    /// Returns the range in which values of the energy counter can be skipped; nil if each value must be handled. While
    /// a run waits for a condition, no value can be skipped.
    public func quietEnergy(of plug: PlugIndex) -> QuietEnergy? {
        executor.runs.waiting == 0 ? house[plug.value].counter.quiet : nil
    }

    /// Skips counter values. The caller guarantees that every value since the last handled one was quiet and that no
    /// value decreased.
    ///
    /// - Parameter milliwattHours: the last of the skipped values.
    public mutating func skip(_ plug: PlugIndex, milliwattHours: UInt64, now: Instant) {
        house[plug.value].counter.keep(milliwattHours, now: now)
    }

    // MARK: Memory

    /// The present state for the next process.
    public var memory: EngineMemory {
        let rules = executor.rules
        var memory = EngineMemory()
        memory.fired = rules.firings(at: latest)
        memory.dwells = power.stored(rules, house)
        memory.runs = executor.runs.stored(rules)
        memory.savedStates = executor.savedStates
        memory.energies = energies.stored(house)
        memory.occurrences = schedules.stored(rules)
        memory.disabled = rules.disabled
        memory.appliances = appliances.stored
        memory.judgedUntil = schedules.judgedUntil.map { max($0, latest) }
        return memory
    }

    /// Restores the state of an earlier engine, as far as its rules still exist.
    private mutating func restore(_ memory: EngineMemory) {
        startupActions = executor.restore(memory)
        power.restore(memory.dwells, executor.rules)
        energies.restore(memory, &house)
        appliances.restore(memory.appliances)
        schedules.restore(memory.occurrences, judgedUntil: memory.judgedUntil, executor.rules)
    }
}
