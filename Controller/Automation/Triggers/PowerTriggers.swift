import PlugModel
import ProtocolCore

extension RuleEngine {
    /// A dwell continues if the controller received no reading for at most this time, because the plug was disconnected
    /// or the controller did not run. A restart of the controller takes less time.
    public static let restartGap = Duration.seconds(120)
}

/// The triggers on active power, and the dwells in progress.
struct PowerTriggers: Sendable {
    /// A trigger that fires because its dwell is complete.
    private struct Edge: Sendable {
        let trigger: Int
        /// The time of the crossing on the plug's clock.
        let since: Instant
        /// The time since the end of the dwell; nil if a reading ended the dwell. It is long if the controller's
        /// machine was asleep when the dwell ended.
        let age: Duration?
    }

    private var triggers: [PowerTrigger] = []
    /// The places of the triggers whose dwell is in progress.
    private var dwelling: Set<Int> = []
    /// The next time at which a dwell ends, or at which its last reading is too old. It may be too early.
    private(set) var deadline: Instant?
    /// The edges of the present event. Reused between events to avoid allocations.
    private var edges: [Edge] = []

    mutating func add(_ trigger: PowerTrigger) { triggers.append(trigger) }

    /// Copies the state of equal triggers of the previous set of rules. The dwells continue after the next
    /// ``refresh(_:_:_:)`` of their plugs.
    mutating func inherit(_ old: PowerTriggers, _ kept: [Int: Int]) {
        let old = old.triggers.byPlace(kept)
        for index in triggers.indices {
            if let before = old[triggers[index].place] { triggers[index].inherit(before) }
        }
    }

    /// Finds the plugs of the triggers. A trigger whose plug changes forgets its state.
    mutating func bind(_ house: inout HouseState, _ rules: RuleTable) {
        for index in triggers.indices {
            guard let plug = house.plugs.find(triggers[index].written).index else {
                triggers[index].bind(nil, seed: nil)
                continue
            }
            // The seed contains the boot, because the plug's clock starts again at each boot.
            let seed = rules.seed(
                "power", triggers[index].place, house.plugs[plug], boot: house.plugs[plug].boot)
            triggers[index].bind(plug, seed: seed)
            house[plug].bind(power: index)
        }
        // Triggers without a plug have no dwell.
        dwelling = dwelling.filter { triggers[$0].plug != nil }
        findDeadline(house)
    }

    // MARK: Memory

    /// Returns the dwells in progress, and the interrupted ones that may continue.
    func stored(_ rules: RuleTable, _ house: HouseState) -> [EngineMemory.Dwell] {
        triggers.compactMap { trigger in
            let rule = rules[trigger.place.rule].rule.name
            if case .dwelling(let since) = trigger.detector.state, let plug = trigger.plug {
                let meter = house[plug].meter
                return EngineMemory.Dwell(
                    rule: rule, trigger: rules.words(of: trigger.place), plug: house.plugs[plug].lasting,
                    boot: house.plugs[plug].boot, since: since, latest: meter.time, value: meter.activePower)
            }
            guard let broken = trigger.broken,
                trigger.plug.map({ trigger.isBroken(house.plugs[$0], house[$0].meter) }) ?? true
            else { return nil }
            return EngineMemory.Dwell(
                rule: rule, trigger: rules.words(of: trigger.place), plug: broken.plug, boot: broken.boot,
                since: broken.since, latest: broken.latest, value: broken.value)
        }
    }

    mutating func restore(_ dwells: [EngineMemory.Dwell], _ rules: RuleTable) {
        for dwell in dwells {
            guard let rule = rules.index(of: dwell.rule), let boot = dwell.boot else { continue }
            for index in triggers.indices
            where triggers[index].place.rule == rule && rules.words(of: triggers[index].place) == dwell.trigger {
                triggers[index].restore(
                    PowerTrigger.Broken(
                        plug: dwell.plug, boot: boot, since: dwell.since, latest: dwell.latest, value: dwell.value))
            }
        }
    }

    // MARK: Readings

    /// Handles a new reading of a plug after the reading in `before`.
    mutating func follow(
        _ index: Int, _ watts: Double, time: Instant, after before: PlugMeter, now: Instant,
        _ house: inout HouseState, _ executor: inout RuleExecutor, _ actions: inout [RuleEngineAction]
    ) {
        edges.removeAll(keepingCapacity: true)
        for trigger in house[index].power {
            let outcome = triggers[trigger].follow(watts, time: time, after: before, of: house.plugs[index])
            if let outcome { note(outcome, of: trigger, now: now, house, &executor, &actions) }
        }
        refresh(index, &house, executor.runs)
        fireEdges(now: now, &house, &executor, &actions)
    }

    /// Handles a reading that reports the present power, not a change.
    mutating func settle(
        _ index: Int, _ watts: Double, time: Instant, now: Instant, _ house: inout HouseState,
        _ executor: inout RuleExecutor, _ actions: inout [RuleEngineAction]
    ) {
        edges.removeAll(keepingCapacity: true)
        for trigger in house[index].power {
            let outcome = triggers[trigger].settle(watts, time: time, of: house.plugs[index])
            if let outcome { note(outcome, of: trigger, now: now, house, &executor, &actions) }
        }
        refresh(index, &house, executor.runs)
        fireEdges(now: now, &house, &executor, &actions)
    }

    /// Arms or disarms the new triggers of a plug by its last reading, without an edge.
    mutating func settleNew(_ index: Int, _ house: HouseState) {
        let meter = house[index].meter
        for trigger in house[index].power where triggers[trigger].detector.state == .unknown {
            _ = triggers[trigger].settle(meter.activePower, time: meter.time, of: house.plugs[index])
        }
    }

    /// Handles the loss of a plug, or a new snapshot.
    mutating func interrupt(_ index: Int, _ house: inout HouseState, _ runs: RunList) {
        for trigger in house[index].power { triggers[trigger].interrupt(house.plugs[index], house[index].meter) }
        refresh(index, &house, runs)
    }

    /// Forgets the state of a plug's triggers, because the plug started again.
    mutating func forget(_ slot: PlugSlot) { for trigger in slot.power { triggers[trigger].forget() } }

    /// Handles the dwells that end on the controller's clock.
    mutating func endDwells(
        now: Instant, _ house: inout HouseState, _ executor: inout RuleExecutor,
        _ actions: inout [RuleEngineAction]
    ) {
        guard let due = deadline, due <= now else { return }
        edges.removeAll(keepingCapacity: true)
        for trigger in dwelling.sorted() {
            guard let plug = triggers[trigger].plug else { continue }
            let meter = house[plug].meter
            let end = triggers[trigger].detector.deadlines(meter)?.due
            let outcome = triggers[trigger].deadlineReached(house.plugs[plug], meter, now: now)
            guard let outcome else { continue }
            // A controller that slept through the end of a dwell acts on it only if the rule accepts the age.
            note(outcome, of: trigger, age: end.map { now - $0 }, now: now, house, &executor, &actions)
            refresh(plug, &house, executor.runs)
        }
        findDeadline(house)
        fireEdges(now: now, &house, &executor, &actions)
    }

    // MARK: Outcomes

    private mutating func note(
        _ outcome: PowerDetector.Outcome, of trigger: Int, age: Duration? = nil, now: Instant, _ house: HouseState,
        _ executor: inout RuleExecutor, _ actions: inout [RuleEngineAction]
    ) {
        switch outcome {
        case .fires(let since): edges.append(Edge(trigger: trigger, since: since, age: age))
        case .missed(let since, let lasted, let end):
            let place = triggers[trigger].place
            guard let plug = triggers[trigger].plug, executor.reportsMiss(place.rule, at: now) else { return }
            let rule = executor.rules[place.rule].rule
            actions.append(
                .nearMiss(
                    NearMiss(
                        rule: rule.name, trigger: rule.triggers[place.place], plug: house.plugs[plug].name,
                        since: house[plug].meter.arrival(of: since), lasted: lasted, end: end)))
        }
    }

    /// Fires the edges of one event, in the order of the rules. A rule with several edges fires once.
    private func fireEdges(
        now: Instant, _ house: inout HouseState, _ executor: inout RuleExecutor,
        _ actions: inout [RuleEngineAction]
    ) {
        guard !edges.isEmpty else { return }
        var last: Int?
        for edge in edges where triggers[edge.trigger].place.rule != last {
            // Copies only one field, because a copy of the whole trigger would increment reference counts.
            let place = triggers[edge.trigger].place
            last = place.rule
            guard let plug = triggers[edge.trigger].plug, let seed = triggers[edge.trigger].seed else { continue }
            let meter = house[plug].meter
            var cause = Firing.Cause(
                executor.rules.source(of: place), plug: house.plugs[plug].name, value: meter.activePower,
                since: meter.arrival(of: edge.since))
            if let age = edge.age, age > .zero { cause.age = age }
            let key = seed.key(UInt64(bitPattern: edge.since.nanoseconds))
            executor.fire(place.rule, cause, key, age: edge.age ?? .zero, now: now, &house, &actions)
        }
    }

    // MARK: Quiet bands and deadlines

    /// Finds the plug's quiet band and the ends of its dwells.
    mutating func refresh(_ index: Int, _ house: inout HouseState, _ runs: RunList) {
        house[index].meter.closeBand()
        let isWatched = house[index].appliance != nil
        house[index].meter.watch(isWatched)
        let meter = house[index].meter
        var band = meter.band
        let mayBeQuiet = meter.hasReading && house.plugs[index].isPresent
        if mayBeQuiet { (band.low, band.high, band.until) = (-.infinity, .infinity, Instant(nanoseconds: .max)) }
        var isDwelling = false
        for trigger in house[index].power {
            if mayBeQuiet { triggers[trigger].detector.narrow(&band, meter) }
            let deadlines = triggers[trigger].detector.deadlines(meter)
            if let deadlines {
                isDwelling = true
                // During a dwell every reading of a watched plug is handled, because it moves the end of the dwell.
                if isWatched { band.atMost(-.infinity) }
                dwelling.insert(trigger)
                deadline = sooner(deadline, min(deadlines.due, deadlines.silent))
            } else if !dwelling.isEmpty, dwelling.remove(trigger) != nil {
                isDwelling = true
            }
        }
        if isDwelling { findDeadline(house) }
        if mayBeQuiet { runs.narrow(&band, index, in: house) }
        house[index].meter.open(band)
    }

    private mutating func findDeadline(_ house: HouseState) {
        deadline = nil
        for trigger in dwelling {
            guard let plug = triggers[trigger].plug else { continue }
            let deadlines = triggers[trigger].detector.deadlines(house[plug].meter)
            if let deadlines { deadline = sooner(deadline, min(deadlines.due, deadlines.silent)) }
        }
    }
}
