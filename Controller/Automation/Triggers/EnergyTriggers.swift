import HouseCalendar
import PlugModel
public import ProtocolCore
import RuleModel

/// A trigger on the energy of a period.
struct EnergyTrigger: Sendable {
    let place: TriggerPlace
    let written: String
    let threshold: EnergyThreshold
    /// The trigger's key, made by ``EngineMemory/key(rule:trigger:)``.
    let key: String
    fileprivate(set) var seed: FiringSeed?

    init(_ place: TriggerPlace, written: String, threshold: EnergyThreshold, key: String) {
        (self.place, self.written, self.threshold, self.key) = (place, written, threshold, key)
    }
}

/// The values of a plug's energy counter at which no trigger fires: up to `milliwattHours`, before `until`. Valid until
/// the engine handles an event that is neither a reading nor a counter value.
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

/// The value of a plug's energy counter at the start of each period, and the triggers that have fired since.
struct EnergyPeriods: Sendable {
    /// The start of a period, and the triggers that have fired in it.
    struct Mark: Sendable {
        let number: Int64
        fileprivate(set) var milliwattHours: UInt64
        fileprivate(set) var fired: Set<String> = []
        /// The triggers that were evaluated at least once, in this period or an earlier one. If the limit is already
        /// exceeded at the first evaluation, the trigger does not fire.
        fileprivate(set) var known: Set<String> = []
    }

    /// The last value, and the time of its arrival; nil before the first value.
    private(set) var last: (milliwattHours: UInt64, heard: Instant)?
    /// The start of each period. A change invalidates `quiet`.
    private(set) var marks: [EnergyThreshold.Period: Mark] = [:] { didSet { quiet = nil } }
    private(set) var quiet: QuietEnergy?
    /// True after the stored marks of the plug were restored.
    private(set) var isRestored = false

    /// Removes the quiet range until the next value.
    mutating func closeQuiet() { quiet = nil }

    /// Stores a value that fires no trigger.
    mutating func keep(_ milliwattHours: UInt64, now: Instant) { last = (milliwattHours, now) }

    /// Stores a value if it is quiet. Returns false for any other value.
    mutating func takesQuietly(_ milliwattHours: UInt64, now: Instant) -> Bool {
        guard let quiet, quiet.contains(milliwattHours, now: now), let last, milliwattHours >= last.milliwattHours
        else { return false }
        keep(milliwattHours, now: now)
        return true
    }

    /// Stores a value after the triggers were evaluated, and the quiet range after it.
    mutating func finish(_ milliwattHours: UInt64, now: Instant, quiet: QuietEnergy?) {
        keep(milliwattHours, now: now)
        self.quiet = quiet
    }

    /// Handles a value before its evaluation. A counter that decreases was reset or replaced. The energy of each period
    /// is then counted from the new value.
    mutating func begin(_ milliwattHours: UInt64) {
        guard let last, milliwattHours < last.milliwattHours else { return }
        for period in marks.keys { marks[period]?.milliwattHours = milliwattHours }
        self.last = nil
    }

    /// Returns the Wh in the present period. Starts a new period if necessary.
    ///
    /// - Parameter number: the number of the present period.
    mutating func used(
        in period: EnergyThreshold.Period, number: Int64, _ milliwattHours: UInt64, now: Instant
    ) -> Double {
        let mark = marks[period]
        // A clock that is set back past the start of a period does not restart the previous period.
        if let mark, number <= mark.number, mark.number <= number &+ period.step {
            return Double(milliwattHours - min(mark.milliwattHours, milliwattHours)) / 1000
        }
        // The period starts at the last value before its start if that value arrived at most
        // ``RuleEngine/restartGap`` ago, otherwise at this value.
        let isNear = mark != nil && last.map { now - $0.heard <= RuleEngine.restartGap } ?? false
        let start = isNear ? last?.milliwattHours ?? milliwattHours : milliwattHours
        marks[period] = Mark(number: number, milliwattHours: start, known: mark?.known ?? [])
        return Double(milliwattHours - start) / 1000
    }

    /// Records the evaluation of a trigger. Returns true if it was the first one.
    mutating func evaluate(_ key: String, in period: EnergyThreshold.Period) -> Bool {
        marks[period]?.known.insert(key).inserted ?? true
    }

    /// Records that a trigger exceeded its limit.
    ///
    /// - Returns: the period's mark; nil if the trigger has already exceeded its limit in this period.
    mutating func exceed(_ key: String, in period: EnergyThreshold.Period) -> Mark? {
        guard let mark = marks[period], !mark.fired.contains(key) else { return nil }
        marks[period]?.fired.insert(key)
        return mark
    }

    /// Starts the period that begins when the relay turns on.
    mutating func turnedOn() {
        let known = marks[.on]?.known ?? []
        marks[.on] = last.map { Mark(number: 0, milliwattHours: $0.milliwattHours, known: known) }
    }

    /// Restores the stored marks of the plug.
    mutating func restore(_ stored: [EngineMemory.EnergyMark]) {
        isRestored = true
        for mark in stored {
            marks[mark.period] = Mark(
                number: mark.number, milliwattHours: mark.milliwattHours, fired: mark.fired, known: mark.known)
        }
    }

    /// Forgets the evaluations of all triggers except these.
    mutating func keepOnly(_ keys: Set<String>) {
        for period in marks.keys { marks[period]?.known.formIntersection(keys) }
    }

    /// Returns the marks of the plug for the next process.
    func stored(_ plug: String) -> [EngineMemory.EnergyMark] {
        marks.map { period, mark in
            EngineMemory.EnergyMark(
                plug: plug, period: period, number: mark.number, milliwattHours: mark.milliwattHours, fired: mark.fired,
                known: mark.known)
        }
    }
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

/// The triggers on energy.
struct EnergyTriggers: Sendable {
    private var triggers: [EnergyTrigger] = []
    /// The stored energy marks of plugs that have not appeared yet, by the plug's permanent name.
    private var storedMarks: [String: [EngineMemory.EnergyMark]] = [:]
    /// The time up to which an earlier engine ran; nil if unknown.
    private var aliveBefore: Instant?

    mutating func add(_ trigger: EnergyTrigger) { triggers.append(trigger) }

    /// Continues after the previous set of rules.
    mutating func inherit(_ old: EnergyTriggers, _ house: inout HouseState) {
        (storedMarks, aliveBefore) = (old.storedMarks, old.aliveBefore)
        forgetRemoved(&house)
    }

    /// Forgets removed triggers. If a trigger is added again, its next evaluation counts as its first.
    private mutating func forgetRemoved(_ house: inout HouseState) {
        let keys = Set(triggers.map(\.key))
        for index in 0..<house.plugs.count { house[index].counter.keepOnly(keys) }
        for plug in storedMarks.keys {
            for place in storedMarks[plug, default: []].indices {
                storedMarks[plug]?[place].known.formIntersection(keys)
            }
        }
    }

    /// Finds the plugs of the triggers.
    mutating func bind(_ house: inout HouseState, _ rules: RuleTable) {
        for place in triggers.indices {
            guard let plug = house.plugs.find(triggers[place].written).index else { continue }
            triggers[place].seed = rules.seed("energy", triggers[place].place, house.plugs[plug])
            house[plug].bind(energy: place)
        }
    }

    // MARK: Memory

    /// Returns the starts of the periods, ordered by plug and period.
    func stored(_ house: HouseState) -> [EngineMemory.EnergyMark] {
        var marks = storedMarks.values.flatMap { $0 }
        for index in 0..<house.plugs.count { marks += house[index].counter.stored(house.plugs[index].lasting) }
        return marks.sorted { ($0.plug, $0.period.rawValue) < ($1.plug, $1.period.rawValue) }
    }

    mutating func restore(_ memory: EngineMemory, _ house: inout HouseState) {
        aliveBefore = memory.judgedUntil
        for mark in memory.energies { storedMarks[mark.plug, default: []].append(mark) }
        forgetRemoved(&house)
    }

    /// Restores the stored marks of a plug. They are stored by its permanent name, which is known only after the plug
    /// appeared.
    private mutating func restoreMarks(_ index: Int, _ house: inout HouseState) {
        guard !house[index].counter.isRestored else { return }
        house[index].counter.restore(storedMarks.removeValue(forKey: house.plugs[index].lasting) ?? [])
    }

    // MARK: Values

    /// Starts the period that begins when the plug's relay turns on.
    mutating func turnedOn(_ index: Int, _ house: inout HouseState) {
        guard house[index].counter.marks[.on] != nil || !house[index].energies.isEmpty else { return }
        restoreMarks(index, &house)
        house[index].counter.turnedOn()
    }

    /// Handles a value of a plug's counter.
    mutating func handle(
        _ milliwattHours: UInt64, of index: Int, now: Instant, _ house: inout HouseState,
        _ executor: inout RuleExecutor, _ actions: inout [RuleEngineAction]
    ) {
        if house[index].counter.takesQuietly(milliwattHours, now: now) { return }
        restoreMarks(index, &house)
        house[index].counter.begin(milliwattHours)
        let heard = house[index].counter.last?.heard ?? aliveBefore
        var lastRule: Int?
        for place in house[index].energies {
            let trigger = triggers[place]
            let (rule, period) = (trigger.place.rule, trigger.threshold.period)
            guard let number = number(of: period, at: now, house), let seed = trigger.seed else { continue }
            let used = house[index].counter.used(in: period, number: number, milliwattHours, now: now)
            let isFirst = house[index].counter.evaluate(trigger.key, in: period)
            guard used > trigger.threshold.wattHours,
                let mark = house[index].counter.exceed(trigger.key, in: period), !isFirst, rule != lastRule
            else { continue }
            lastRule = rule
            var cause = Firing.Cause(
                executor.rules.source(of: trigger.place), plug: house.plugs[index].name, value: used)
            // After a long silence the time at which the limit was exceeded is unknown.
            let hole = heard.map { now - $0 }
            let isFresh = hole.map { $0 <= RuleEngine.restartGap } ?? false
            if !isFresh { cause.age = hole }
            // A period that the relay started is identified by the counter value at its start.
            let id = seed.key(mark.number == 0 ? mark.milliwattHours : UInt64(bitPattern: mark.number))
            executor.fire(rule, cause, id, age: isFresh ? .zero : hole, now: now, &house, &actions)
        }
        house[index].counter.finish(milliwattHours, now: now, quiet: quiet(house[index], now: now, house))
    }

    /// Returns the number of the present period; nil if unknown.
    private func number(of period: EnergyThreshold.Period, at now: Instant, _ house: HouseState) -> Int64? {
        period == .on ? 0 : house.localTime.flatMap { period.number(at: now, $0) }
    }

    /// Returns the range in which no trigger fires and no period ends. Nil if every value must be handled, for example
    /// because the local time is unknown or a trigger has not been evaluated yet.
    private func quiet(_ slot: PlugSlot, now: Instant, _ house: HouseState) -> QuietEnergy? {
        guard let time = house.localTime, let second = time.second(at: now) else { return nil }
        // Every period of the calendar ends at the end of an hour. An hour with a clock change has no quiet range.
        let left = 3599 - (second - Int64(floorDivide(Int(clamping: second), 3600)) * 3600)
        let until = now + .seconds(left)
        guard time.second(at: until) == second + left else { return nil }
        var most = UInt64.max
        for place in slot.energies {
            let (key, threshold) = (triggers[place].key, triggers[place].threshold)
            guard let mark = slot.counter.marks[threshold.period], mark.known.contains(key) else { return nil }
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
}
