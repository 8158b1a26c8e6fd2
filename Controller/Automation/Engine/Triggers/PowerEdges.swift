import PlugModel
import ProtocolCore

/// A power trigger whose dwell ended and that fires.
struct PowerEdge: Sendable {
    var trigger: Int
    /// The time of the crossing on the plug's clock.
    var since: Instant
    /// The time since the end of the dwell; nil if a reading ended the dwell. It is long if the controller was asleep
    /// at the end.
    var age: Duration?
}

extension RuleEngine {
    /// The longest silence of the connection or the controller over which a dwell continues. Longer than a restart.
    public static let restartGap = Duration.seconds(120)
    /// The minimum interval between reported near misses of one rule. Noise at a threshold would otherwise produce
    /// thousands.
    static let missInterval = Duration.seconds(10)

    /// Handles a reading that is not a snapshot and not quiet.
    mutating func follow(
        _ index: Int, _ watts: Double, time: Instant, now: Instant, _ actions: inout [Action]
    ) {
        // NaN cannot be compared with a threshold.
        guard !watts.isNaN, plugs[index].isPresent else { return }
        let before = slots[index].meter
        if before.isWatched, before.band.contains(watts, time: time, now: now) {
            slots[index].meter.keep(watts, time: time, now: now)
            return sense(index, now: now, isFirst: false, &actions)
        }
        // The plug repeats its last reading when another part of its state changes.
        if before.hasReading, before.time == time { return }
        // A time before the last reading's time belongs to a different boot.
        guard !before.hasReading || before.time < time else {
            for trigger in slots[index].power {
                power[trigger].broken = nil
                power[trigger].detector.forget()
            }
            return settle(index, watts, time: time, now: now, &actions)
        }
        slots[index].meter.keep(watts, time: time, now: now)
        edges.removeAll(keepingCapacity: true)
        for trigger in slots[index].power {
            let outcome =
                power[trigger].detector.state == .unknown
                ? power[trigger].settle(watts, time: time, of: plugs[index])
                : power[trigger].detector.follow(watts, time: time, latest: before.time, gap: before.gap)
            if let outcome { note(outcome, of: trigger, slots[index].meter, &actions) }
        }
        refresh(index)
        fireEdges(now: now, &actions)
        sense(index, now: now, isFirst: !before.hasReading, &actions)
    }

    /// Handles a reading that reports the present power, not a change.
    mutating func settle(
        _ index: Int, _ watts: Double, time: Instant, now: Instant, _ actions: inout [Action]
    ) {
        guard !watts.isNaN, plugs[index].isPresent else { return }
        let isFirst = !slots[index].meter.hasReading
        slots[index].meter.keep(watts, time: time, now: now)
        edges.removeAll(keepingCapacity: true)
        for trigger in slots[index].power {
            let outcome = power[trigger].settle(watts, time: time, of: plugs[index])
            if let outcome { note(outcome, of: trigger, slots[index].meter, &actions) }
        }
        refresh(index)
        fireEdges(now: now, &actions)
        sense(index, now: now, isFirst: isFirst, &actions)
    }

    /// Handles the dwells that end on the controller's clock.
    mutating func endDwells(now: Instant, _ actions: inout [Action]) {
        guard let due = dwellDeadline, due <= now else { return }
        edges.removeAll(keepingCapacity: true)
        for trigger in dwelling.sorted() {
            guard let plug = power[trigger].plug else { continue }
            let meter = slots[plug].meter
            let end = power[trigger].detector.deadlines(meter)?.due
            let outcome = power[trigger].deadlineReached(plugs[plug], meter, now: now)
            guard let outcome else { continue }
            // A controller that slept through the end of a dwell acts on it only if the rule accepts the age.
            note(outcome, of: trigger, meter, age: end.map { now - $0 }, &actions)
            refresh(plug)
        }
        findDwellDeadline()
        fireEdges(now: now, &actions)
    }

    // MARK: Outcomes

    private mutating func note(
        _ outcome: PowerDetector.Outcome, of trigger: Int, _ meter: PlugMeter, age: Duration? = nil,
        _ actions: inout [Action]
    ) {
        switch outcome {
        case .fires(let since): edges.append(PowerEdge(trigger: trigger, since: since, age: age))
        case .missed(let since, let lasted, let end):
            let missed = power[trigger]
            let told = states[missed.rule].missTold
            guard let plug = missed.plug, told.map({ latest - $0 >= Self.missInterval }) ?? true else { return }
            states[missed.rule].missTold = latest
            let rule = states[missed.rule].rule
            actions.append(
                .nearMiss(
                    NearMiss(
                        rule: rule.name, trigger: rule.triggers[missed.place], plug: plugs[plug].name,
                        since: meter.arrival(of: since), lasted: lasted, end: end)))
        }
    }

    /// Fires the edges of one event, in the order of the rules. A rule with several edges fires once.
    private mutating func fireEdges(now: Instant, _ actions: inout [Action]) {
        guard !edges.isEmpty else { return }
        var last: Int?
        // Iterates by index, because `fire` mutates the engine. The list itself changes only with the next event.
        for place in edges.indices where power[edges[place].trigger].rule != last {
            let edge = edges[place]
            // Copies only one field, because a copy of the whole trigger would increment reference counts.
            let rule = power[edge.trigger].rule
            last = rule
            guard let plug = power[edge.trigger].plug, let seed = power[edge.trigger].seed else { continue }
            let meter = slots[plug].meter
            var cause = Firing.Cause(
                states[rule].sources[power[edge.trigger].place], plug: plugs[plug].name, value: meter.activePower,
                since: meter.arrival(of: edge.since))
            if let age = edge.age, age > .zero { cause.age = age }
            let key = seed.key(UInt64(bitPattern: edge.since.nanoseconds))
            fire(rule, cause, key, age: edge.age ?? .zero, now: now, &actions)
        }
    }

    /// Finds the plug's quiet band and the ends of its dwells.
    mutating func refresh(_ index: Int) {
        slots[index].meter.closeBand()
        var band = slots[index].meter.band
        defer { slots[index].meter.band = band }
        let isWatched = slots[index].appliance != nil
        slots[index].meter.isWatched = isWatched
        let mayBeQuiet = slots[index].meter.hasReading && plugs[index].isPresent
        if mayBeQuiet { (band.low, band.high, band.until) = (-.infinity, .infinity, Instant(nanoseconds: .max)) }
        var isDwelling = false
        for trigger in slots[index].power {
            if mayBeQuiet { power[trigger].detector.narrow(&band, slots[index].meter) }
            let deadlines = power[trigger].detector.deadlines(slots[index].meter)
            if let deadlines {
                isDwelling = true
                // During a dwell every reading of a watched plug is handled, because it moves the end of the dwell.
                if isWatched { band.atMost(-.infinity) }
                dwelling.insert(trigger)
                dwellDeadline = sooner(dwellDeadline, min(deadlines.due, deadlines.silent))
            } else if !dwelling.isEmpty, dwelling.remove(trigger) != nil {
                isDwelling = true
            }
        }
        if isDwelling { findDwellDeadline() }
        if mayBeQuiet, waitingFor > 0 { narrowForRuns(&band, index) }
    }

    mutating func findDwellDeadline() {
        dwellDeadline = nil
        for trigger in dwelling {
            guard let plug = power[trigger].plug else { continue }
            let deadlines = power[trigger].detector.deadlines(slots[plug].meter)
            if let deadlines { dwellDeadline = sooner(dwellDeadline, min(deadlines.due, deadlines.silent)) }
        }
    }
}
