import LocalCalendar
import PlugProtocol
import ProtocolCore

/// A trigger on the energy of a period.
struct EnergyTrigger: Sendable {
    let rule: Int
    let place: Int
    let written: String
    let threshold: EnergyThreshold
    var plug: Int?
    var seed: FiringSeed?
}

/// What is known of a plug's energy counter.
struct EnergyCounter: Sendable {
    /// From where a period counts, and the triggers that have fired in it.
    struct Mark: Sendable {
        var number: Int64
        var milliwattHours: UInt64
        var fired: Set<String> = []
    }

    /// The counter, and when it was heard.
    var last: (milliwattHours: UInt64, heard: Instant)?
    /// By period.
    var marks: [EnergyThreshold.Period: Mark] = [:]
    /// What was stored of the plug has been taken.
    var isRestored = false
}

extension EnergyThreshold.Period {
    /// Of the local calendar, rising; of ``on`` zero, which begins anew with the relay and not with the clock.
    ///
    /// - Parameter second: local, since 1970-01-01.
    func number(at second: Int64) -> Int64 {
        let day = floorDivide(Int(clamping: second), 86_400)
        switch self {
        case .hour: return Int64(floorDivide(Int(clamping: second), 3600))
        case .day: return Int64(day)
        case .week: return Int64(floorDivide(day + 3, 7))
        case .month:
            let date = CivilTime(localSeconds: Double(day * 86_400))
            return Int64(date.year * 12 + date.month)
        case .on: return 0
        }
    }
}

extension RuleEngine {
    /// Whether ``RuleEngineEvent/energy(plug:milliwattHours:)`` of the plug means anything to a rule.
    public func asksEnergy(of plug: PlugIndex) -> Bool { !energyOf[plug.value].isEmpty }

    mutating func energy(_ name: String, _ milliwattHours: UInt64, now: Instant, _ actions: inout [Action]) {
        guard let index = plugs.index(ofPresent: name) else { return }
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
            guard let used = used(trigger, index, milliwattHours, now: now), used > trigger.threshold.wattHours,
                let number = counters[index].marks[trigger.threshold.period]?.number, let seed = trigger.seed
            else { continue }
            let rule = states[trigger.rule].rule
            let key = EngineMemory.key(rule: rule.name, trigger: rule.triggers[trigger.place])
            let mark = counters[index].marks[trigger.threshold.period]
            guard let mark, !mark.fired.contains(key) else { continue }
            counters[index].marks[trigger.threshold.period]?.fired.insert(key)
            guard trigger.rule != lastRule else { continue }
            lastRule = trigger.rule
            var cause = Firing.Cause(states[trigger.rule].sources[trigger.place], plug: plugs[index].name, value: used)
            // Where nobody listened for long, nobody knows when it was exceeded.
            let hole = heard.map { now - $0 }
            let isFresh = hole.map { $0 <= Self.restartGap } ?? false
            if !isFresh { cause.age = hole }
            // Of a period that the relay began, where it began is what tells it from others.
            let id = seed.key(number == 0 ? mark.milliwattHours : UInt64(bitPattern: number))
            fire(trigger.rule, cause, id, age: isFresh ? .zero : hole, now: now, &actions)
        }
        counters[index].last = (milliwattHours, now)
    }

    /// Wh in the period of now; nil where that is not known. Begins a new period.
    private mutating func used(
        _ trigger: EnergyTrigger, _ index: Int, _ milliwattHours: UInt64, now: Instant
    ) -> Double? {
        let period = trigger.threshold.period
        let number: Int64
        if period == .on {
            number = 0
        } else {
            guard let second = localTime?.second(at: now) else { return nil }
            number = period.number(at: second)
        }
        let counter = counters[index]
        // A clock set back over the beginning of a period does not begin the one before again.
        if let mark = counter.marks[period], mark.number == number || mark.number == number + 1 {
            return Double(milliwattHours - min(mark.milliwattHours, milliwattHours)) / 1000
        }
        // The counter at the beginning is the one heard just before it, where that was not long ago.
        let isNear = counter.marks[period] != nil && counter.last.map { now - $0.heard <= Self.restartGap } ?? false
        let start = isNear ? counter.last?.milliwattHours ?? milliwattHours : milliwattHours
        counters[index].marks[period] = EnergyCounter.Mark(number: number, milliwattHours: start)
        return Double(milliwattHours - start) / 1000
    }

    mutating func turnedOn(_ index: Int) {
        guard counters[index].marks[.on] != nil || !energyOf[index].isEmpty else { return }
        restoreMarks(index)
        counters[index].marks[.on] = counters[index].last.map {
            EnergyCounter.Mark(number: 0, milliwattHours: $0.milliwattHours)
        }
    }

    /// Marks are stored by what lasts of a plug, which is known when it appears.
    private mutating func restoreMarks(_ index: Int) {
        guard !counters[index].isRestored else { return }
        counters[index].isRestored = true
        for mark in storedMarks.removeValue(forKey: plugs[index].lasting) ?? [] {
            counters[index].marks[mark.period] = EnergyCounter.Mark(
                number: mark.number, milliwattHours: mark.milliwattHours, fired: mark.fired)
        }
    }
}
