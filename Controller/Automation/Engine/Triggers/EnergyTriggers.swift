import HouseCalendar
import PlugModel
public import ProtocolCore

/// A trigger on the energy of a period.
struct EnergyTrigger: Sendable {
    let rule: Int
    let place: Int
    let written: String
    let threshold: EnergyThreshold
    /// The trigger's key, made by ``EngineMemory/key(rule:trigger:)``.
    let key: String
    var plug: Int?
    var seed: FiringSeed?
}

/// The values of a plug's energy counter at which no trigger fires: up to `milliwattHours`, before `until`. Valid until
/// the engine handles any event other than readings and energies.
public struct QuietEnergy: Hashable, Sendable {
    /// The highest quiet value, included.
    public internal(set) var milliwattHours: UInt64
    /// The end of the quiet time on the controller's clock, excluded.
    public internal(set) var until: Instant

    /// Returns true if the value is quiet. The caller must check that the counter did not decrease.
    public func contains(_ milliwattHours: UInt64, now: Instant) -> Bool {
        milliwattHours <= self.milliwattHours && now < until
    }
}

/// The state of a plug's energy counter.
struct EnergyCounter: Sendable {
    /// The start of a period, and the triggers that have fired in it.
    struct Mark: Sendable {
        var number: Int64
        var milliwattHours: UInt64
        var fired: Set<String> = []
        /// The triggers that were evaluated at least once, in this period or an earlier one. If the limit is already
        /// exceeded at the first evaluation, the trigger does not fire.
        var known: Set<String> = []
    }

    /// The last value, and the time of its arrival; nil before the first value.
    var last: (milliwattHours: UInt64, heard: Instant)?
    /// The start of each period. A change invalidates `quiet`.
    var marks: [EnergyThreshold.Period: Mark] = [:] { didSet { quiet = nil } }
    var quiet: QuietEnergy?
    /// True after the stored marks of the plug were restored.
    var isRestored = false
}

extension EnergyThreshold.Period {
    /// Returns the number of the period at an instant, in the local calendar. Numbers rise with time. A repeated hour
    /// counts as two periods. The number of ``on`` is always zero, because the relay starts that period, not the clock.
    /// Nil if the local time is unknown.
    func number(at instant: Instant, _ time: LocalTime) -> Int64? {
        if self == .on { return 0 }
        guard let second = time.second(at: instant) else { return nil }
        let day = floorDivide(Int(clamping: second), 86_400)
        switch self {
        case .hour:
            let hour = Int64(floorDivide(Int(clamping: second), 3600))
            let start = hour &* 3600
            let began = instant - .seconds(second &- start)
            // If daylight saving time ends in the middle of an hour, that hour is one long period.
            let isSecond = time.second(at: began) == start && time.isRepetition(at: began)
            return hour &* 2 &+ (isSecond ? 1 : 0)
        case .day: return Int64(day)
        case .week: return Int64(floorDivide(day + 3, 7))
        case .month:
            let date = CivilTime(localSeconds: Double(day * 86_400))
            return Int64(date.year * 12 + date.month)
        case .on: return 0
        }
    }

    /// The maximum difference between the numbers of consecutive periods.
    var step: Int64 { self == .hour ? 2 : 1 }
}

extension RuleEngine {
    /// Returns true if a rule uses ``RuleEngineEvent/energy(plug:milliwattHours:)`` of the plug.
    public func asksEnergy(of plug: PlugIndex) -> Bool { !slots[plug.value].energies.isEmpty }

    /// Returns the range in which energies can be skipped; nil if each must be handled. While a run waits for a
    /// condition, none can be skipped.
    public func quietEnergy(of plug: PlugIndex) -> QuietEnergy? {
        waitingFor == 0 ? slots[plug.value].counter.quiet : nil
    }

    /// Skips counter values. The caller guarantees that every value since the last handled one was quiet and that no
    /// value decreased.
    ///
    /// - Parameter milliwattHours: the last of the skipped values.
    public mutating func skip(_ plug: PlugIndex, milliwattHours: UInt64, now: Instant) {
        slots[plug.value].counter.last = (milliwattHours, now)
    }

    mutating func energy(_ name: String, _ milliwattHours: UInt64, now: Instant, _ actions: inout [Action]) {
        guard let index = plugs.index(ofPresent: name) else { return }
        if let quiet = slots[index].counter.quiet, quiet.contains(milliwattHours, now: now),
            let last = slots[index].counter.last, milliwattHours >= last.milliwattHours
        {
            return slots[index].counter.last = (milliwattHours, now)
        }
        restoreMarks(index)
        // A counter that decreases was reset or replaced. The energy of each period is then counted from the new value.
        if let last = slots[index].counter.last, milliwattHours < last.milliwattHours {
            for period in slots[index].counter.marks.keys {
                slots[index].counter.marks[period]?.milliwattHours = milliwattHours
            }
            slots[index].counter.last = nil
        }
        let heard = slots[index].counter.last?.heard ?? aliveBefore
        var lastRule: Int?
        for place in slots[index].energies {
            let trigger = energies[place]
            let period = trigger.threshold.period
            guard let used = used(trigger, index, milliwattHours, now: now), let seed = trigger.seed else { continue }
            let isFirst = slots[index].counter.marks[period]?.known.insert(trigger.key).inserted ?? true
            guard used > trigger.threshold.wattHours, let mark = slots[index].counter.marks[period],
                !mark.fired.contains(trigger.key)
            else { continue }
            slots[index].counter.marks[period]?.fired.insert(trigger.key)
            guard !isFirst, trigger.rule != lastRule else { continue }
            lastRule = trigger.rule
            var cause = Firing.Cause(states[trigger.rule].sources[trigger.place], plug: plugs[index].name, value: used)
            // After a long silence the time at which the limit was exceeded is unknown.
            let hole = heard.map { now - $0 }
            let isFresh = hole.map { $0 <= Self.restartGap } ?? false
            if !isFresh { cause.age = hole }
            // The counter value at the start identifies a period that the relay started.
            let id = seed.key(mark.number == 0 ? mark.milliwattHours : UInt64(bitPattern: mark.number))
            fire(trigger.rule, cause, id, age: isFresh ? .zero : hole, now: now, &actions)
        }
        slots[index].counter.last = (milliwattHours, now)
        slots[index].counter.quiet = quiet(index, now: now)
    }

    /// Returns the range in which no trigger fires and no period ends. Nil if every value must be handled, for example
    /// because the local time is unknown or a trigger has not been evaluated yet.
    private func quiet(_ index: Int, now: Instant) -> QuietEnergy? {
        guard let second = localTime?.second(at: now) else { return nil }
        // Every period of the calendar ends at the end of an hour. An hour with a clock change has no quiet range.
        let left = 3599 - (second - Int64(floorDivide(Int(clamping: second), 3600)) * 3600)
        let until = now + .seconds(left)
        guard localTime?.second(at: until) == second + left else { return nil }
        var most = UInt64.max
        for place in slots[index].energies {
            let (key, threshold) = (energies[place].key, energies[place].threshold)
            guard let mark = slots[index].counter.marks[threshold.period], mark.known.contains(key) else { return nil }
            // The period starts at the last value before the relay turns on, so every value is handled.
            if threshold.period == .on { return nil }
            if mark.fired.contains(key) { continue }
            // One mWh less, because the floating-point product may be rounded up.
            let more = (threshold.wattHours * 1000).rounded(.down) - 1
            guard more >= 0, more < 1e15 else { return nil }
            most = min(most, mark.milliwattHours + UInt64(more))
        }
        return QuietEnergy(milliwattHours: most, until: until)
    }

    /// Returns the Wh in the present period; nil if unknown. Starts a new period if necessary.
    private mutating func used(
        _ trigger: EnergyTrigger, _ index: Int, _ milliwattHours: UInt64, now: Instant
    ) -> Double? {
        let period = trigger.threshold.period
        guard let number = period == .on ? 0 : localTime.flatMap({ period.number(at: now, $0) }) else { return nil }
        let counter = slots[index].counter
        // A clock that is set back past the start of a period does not restart the previous period.
        if let mark = counter.marks[period], number <= mark.number, mark.number <= number &+ period.step {
            return Double(milliwattHours - min(mark.milliwattHours, milliwattHours)) / 1000
        }
        // The period starts at the last value before its start if that value arrived at most ``restartGap`` ago,
        // otherwise at this value.
        let isNear = counter.marks[period] != nil && counter.last.map { now - $0.heard <= Self.restartGap } ?? false
        let start = isNear ? counter.last?.milliwattHours ?? milliwattHours : milliwattHours
        slots[index].counter.marks[period] = EnergyCounter.Mark(
            number: number, milliwattHours: start, known: counter.marks[period]?.known ?? [])
        return Double(milliwattHours - start) / 1000
    }

    mutating func turnedOn(_ index: Int) {
        guard slots[index].counter.marks[.on] != nil || !slots[index].energies.isEmpty else { return }
        restoreMarks(index)
        let known = slots[index].counter.marks[.on]?.known ?? []
        slots[index].counter.marks[.on] = slots[index].counter.last.map {
            EnergyCounter.Mark(number: 0, milliwattHours: $0.milliwattHours, known: known)
        }
    }

    /// Restores the stored marks of a plug. They are stored by its permanent name, which is known only after the plug
    /// appeared.
    private mutating func restoreMarks(_ index: Int) {
        guard !slots[index].counter.isRestored else { return }
        slots[index].counter.isRestored = true
        for mark in storedMarks.removeValue(forKey: plugs[index].lasting) ?? [] {
            slots[index].counter.marks[mark.period] = EnergyCounter.Mark(
                number: mark.number, milliwattHours: mark.milliwattHours, fired: mark.fired, known: mark.known)
        }
    }

    /// Forgets removed triggers. If a trigger is added again, its next evaluation counts as its first.
    mutating func forgetEnergies() {
        let keys = Set(energies.map(\.key))
        for index in slots.indices {
            for period in slots[index].counter.marks.keys {
                slots[index].counter.marks[period]?.known.formIntersection(keys)
            }
        }
        for plug in storedMarks.keys {
            for place in storedMarks[plug, default: []].indices {
                storedMarks[plug]?[place].known.formIntersection(keys)
            }
        }
    }
}
