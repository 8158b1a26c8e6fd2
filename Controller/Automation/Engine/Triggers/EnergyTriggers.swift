import LocalCalendar
import PlugModel
public import ProtocolCore

/// A trigger on the energy of a period.
struct EnergyTrigger: Sendable {
    let rule: Int
    let place: Int
    let written: String
    let threshold: EnergyThreshold
    /// As ``EngineMemory/key(rule:trigger:)`` names it.
    let key: String
    var plug: Int?
    var seed: FiringSeed?
}

/// What a plug's energy counter may say without any trigger's minding: up to so much, before a time. It holds until the engine is
/// given anything else but readings and energy.
public struct QuietEnergy: Hashable, Sendable {
    public internal(set) var milliwattHours: UInt64
    public internal(set) var until: Instant

    public func contains(_ milliwattHours: UInt64, now: Instant) -> Bool {
        milliwattHours <= self.milliwattHours && now < until
    }
}

/// What is known of a plug's energy counter.
struct EnergyCounter: Sendable {
    /// From where a period counts, and the triggers that have fired in it.
    struct Mark: Sendable {
        var number: Int64
        var milliwattHours: UInt64
        var fired: Set<String> = []
        /// Triggers that have been judged, in this period or an earlier one: what is exceeded already at the first time is no edge.
        var known: Set<String> = []
    }

    /// The counter, and when it was heard.
    var last: (milliwattHours: UInt64, heard: Instant)?
    /// By period.
    var marks: [EnergyThreshold.Period: Mark] = [:] { didSet { quiet = nil } }
    var quiet: QuietEnergy?
    /// What was stored of the plug has been taken.
    var isRestored = false
}

extension EnergyThreshold.Period {
    /// The number of the period at an instant, in the local calendar, rising; nil if the local time is not known. An hour that comes twice
    /// is two periods. The number of ``on`` is always zero: the relay begins it, and not the clock.
    func number(at instant: Instant, _ time: LocalTime) -> Int64? {
        if self == .on { return 0 }
        guard let second = time.second(at: instant) else { return nil }
        let day = floorDivide(Int(clamping: second), 86_400)
        switch self {
        case .hour:
            let hour = Int64(floorDivide(Int(clamping: second), 3600))
            let start = hour &* 3600
            let began = instant - .seconds(second &- start)
            // Summer time may end in the middle of an hour, which is then one long period.
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

    /// How far apart the numbers of a period and of the next one are at most.
    var step: Int64 { self == .hour ? 2 : 1 }
}

extension RuleEngine {
    /// Whether ``RuleEngineEvent/energy(plug:milliwattHours:)`` of the plug means anything to a rule.
    public func asksEnergy(of plug: PlugIndex) -> Bool { !energyOf[plug.value].isEmpty }

    /// Nil where each has to be told. Runs that wait for a condition are looked at with each.
    public func quietEnergy(of plug: PlugIndex) -> QuietEnergy? {
        waitingFor == 0 ? counters[plug.value].quiet : nil
    }

    /// Every energy after the one before and up to this one was quiet, and not less than the one before it.
    public mutating func skip(_ plug: PlugIndex, milliwattHours: UInt64, now: Instant) {
        counters[plug.value].last = (milliwattHours, now)
    }

    mutating func energy(_ name: String, _ milliwattHours: UInt64, now: Instant, _ actions: inout [Action]) {
        guard let index = plugs.index(ofPresent: name) else { return }
        if let quiet = counters[index].quiet, quiet.contains(milliwattHours, now: now),
            let last = counters[index].last, milliwattHours >= last.milliwattHours
        {
            return counters[index].last = (milliwattHours, now)
        }
        restoreMarks(index)
        // A counter that falls is another one: what it counted before does not belong to it.
        if let last = counters[index].last, milliwattHours < last.milliwattHours {
            for period in counters[index].marks.keys {
                counters[index].marks[period]?.milliwattHours = milliwattHours
            }
            counters[index].last = nil
        }
        let heard = counters[index].last?.heard ?? aliveBefore
        var lastRule: Int?
        for place in energyOf[index] {
            let trigger = energies[place]
            let period = trigger.threshold.period
            guard let used = used(trigger, index, milliwattHours, now: now), let seed = trigger.seed else { continue }
            let isFirst = counters[index].marks[period]?.known.insert(trigger.key).inserted ?? true
            guard used > trigger.threshold.wattHours, let mark = counters[index].marks[period],
                !mark.fired.contains(trigger.key)
            else { continue }
            counters[index].marks[period]?.fired.insert(trigger.key)
            guard !isFirst, trigger.rule != lastRule else { continue }
            lastRule = trigger.rule
            var cause = Firing.Cause(states[trigger.rule].sources[trigger.place], plug: plugs[index].name, value: used)
            // Where nobody listened for long, nobody knows when it was exceeded.
            let hole = heard.map { now - $0 }
            let isFresh = hole.map { $0 <= Self.restartGap } ?? false
            if !isFresh { cause.age = hole }
            // Of a period that the relay began, where it began is what tells it from others.
            let id = seed.key(mark.number == 0 ? mark.milliwattHours : UInt64(bitPattern: mark.number))
            fire(trigger.rule, cause, id, age: isFresh ? .zero : hole, now: now, &actions)
        }
        counters[index].last = (milliwattHours, now)
        counters[index].quiet = quiet(index, now: now)
    }

    /// Up to where each trigger that has not fired has been judged, and none of the periods ends.
    private func quiet(_ index: Int, now: Instant) -> QuietEnergy? {
        guard let second = localTime?.second(at: now) else { return nil }
        // Each period ends with an hour. One in which the clock is moved is not passed over.
        let left = 3599 - (second - Int64(floorDivide(Int(clamping: second), 3600)) * 3600)
        let until = now + .seconds(left)
        guard localTime?.second(at: until) == second + left else { return nil }
        var most = UInt64.max
        for place in energyOf[index] {
            let (key, threshold) = (energies[place].key, energies[place].threshold)
            guard let mark = counters[index].marks[threshold.period], mark.known.contains(key) else { return nil }
            // It begins with the relay, at what was heard last.
            if threshold.period == .on { return nil }
            if mark.fired.contains(key) { continue }
            // One less, since a product of fractions is not always the nearest.
            let more = (threshold.wattHours * 1000).rounded(.down) - 1
            guard more >= 0, more < 1e15 else { return nil }
            most = min(most, mark.milliwattHours + UInt64(more))
        }
        return QuietEnergy(milliwattHours: most, until: until)
    }

    /// Wh in the period of now; nil where that is not known. Begins a new period.
    private mutating func used(
        _ trigger: EnergyTrigger, _ index: Int, _ milliwattHours: UInt64, now: Instant
    ) -> Double? {
        let period = trigger.threshold.period
        guard let number = period == .on ? 0 : localTime.flatMap({ period.number(at: now, $0) }) else { return nil }
        let counter = counters[index]
        // A clock set back over the beginning of a period does not begin the previous one again.
        if let mark = counter.marks[period], number <= mark.number, mark.number <= number &+ period.step {
            return Double(milliwattHours - min(mark.milliwattHours, milliwattHours)) / 1000
        }
        // The counter at the beginning is the one heard just before it, where that was not long ago.
        let isNear = counter.marks[period] != nil && counter.last.map { now - $0.heard <= Self.restartGap } ?? false
        let start = isNear ? counter.last?.milliwattHours ?? milliwattHours : milliwattHours
        counters[index].marks[period] = EnergyCounter.Mark(
            number: number, milliwattHours: start, known: counter.marks[period]?.known ?? [])
        return Double(milliwattHours - start) / 1000
    }

    mutating func turnedOn(_ index: Int) {
        guard counters[index].marks[.on] != nil || !energyOf[index].isEmpty else { return }
        restoreMarks(index)
        let known = counters[index].marks[.on]?.known ?? []
        counters[index].marks[.on] = counters[index].last.map {
            EnergyCounter.Mark(number: 0, milliwattHours: $0.milliwattHours, known: known)
        }
    }

    /// Marks are stored by what lasts of a plug, which is known when it appears.
    private mutating func restoreMarks(_ index: Int) {
        guard !counters[index].isRestored else { return }
        counters[index].isRestored = true
        for mark in storedMarks.removeValue(forKey: plugs[index].lasting) ?? [] {
            counters[index].marks[mark.period] = EnergyCounter.Mark(
                number: mark.number, milliwattHours: mark.milliwattHours, fired: mark.fired, known: mark.known)
        }
    }

    /// A trigger that is no more, and comes again, is judged for the first time then.
    mutating func forgetEnergies() {
        let keys = Set(energies.map(\.key))
        for index in counters.indices {
            for period in counters[index].marks.keys { counters[index].marks[period]?.known.formIntersection(keys) }
        }
        for plug in storedMarks.keys {
            for place in storedMarks[plug, default: []].indices {
                storedMarks[plug]?[place].known.formIntersection(keys)
            }
        }
    }
}
