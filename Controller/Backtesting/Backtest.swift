import Automation
import DurableRules
import PlugModel
import PowerHistory
import ProtocolCore
import RuleModel

/// Runs a rule engine over a recorded span. Times are milliseconds since 1970; an `Instant` is the same time in
/// nanoseconds.
struct Backtest {
    var engine: RuleEngine
    var streams: [PlugStream] = []
    var relays: [String: VirtualRelay] = [:]
    var switchings: [String: Switchings] = [:]
    var report: BacktestReport
    /// True if the report lists held-back edges and near misses.
    let tellsAsides: Bool

    /// The index in `streams` of each plug.
    var places: [PlugID: Int] = [:]
    /// The indexes in `streams` of plugs with a condition on their power.
    var asked: [Int] = []
    /// A trace recorder without firings, which is copied for each firing.
    var book: TraceRecorder
    /// The index in the report of each firing.
    var firings: [RequestID: Int] = [:]
    /// The commands that wait for absent plugs: the last one per plug, keyed by the plug's name in lower case.
    var deferred: [String: DeferredCommand] = [:]
    let scripts: (any PastScripts)?
    /// The running timers of scripts. A script has at most ``ScriptLimits/timers``; otherwise its call fails.
    var timers: [ScriptTimer: RunningTimer] = [:]
    /// The command budgets of scripts, by script name.
    var budgets: [String: CommandBudget] = [:]
    var timerBudgets: [String: CommandBudget] = [:]
    private var events: EventPages
    private let end: Int64
    /// The next stop of each plug, up to ``barrier``.
    private var stops: [(time: Int64, stop: PlugStream.Stop)?] = []
    /// The earliest time at which something other than a sample may happen.
    private var barrier = Int64.min
    /// The time up to which all events were handled.
    private var clock = Int64.min

    init(
        _ house: PastHouse, _ rules: [Rule], _ span: ClosedRange<Int64>, tellsAsides: Bool,
        _ scripts: (any PastScripts)?
    ) throws(HistoryError) {
        engine = RuleEngine(rules: rules)
        report = BacktestReport(rules, span: span)
        book = TraceRecorder(rules: rules)
        events = EventPages(house.history, of: rules.map(\.name), over: span)
        end = span.upperBound
        self.tellsAsides = tellsAsides
        self.scripts = scripts
        let now = Self.instant(span.lowerBound)
        perform(engine.handle(.clockChanged(house.localTime, house.sun), now: now), at: span.lowerBound)
        try setUp(house, rules, span)
    }

    static func instant(_ milliseconds: Int64) -> Instant {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        return Instant(nanoseconds: overflow ? (milliseconds < 0 ? .min : .max) : product)
    }

    // MARK: Time

    /// - Parameter isStopped: Ends the run early if it returns true.
    mutating func run(_ isStopped: () -> Bool) throws(HistoryError) {
        stops = Array(repeating: nil, count: streams.count)
        try lookAhead()
        // The check reads a clock, which would take longer than most steps.
        var steps = 0
        while true {
            steps &+= 1
            if steps & 255 == 0, isStopped() {
                report.span = report.span.lowerBound...min(max(clock, report.span.lowerBound), end)
                break
            }
            if let place = nextPlug() {
                try process(place)
            } else if try !passBarrier() {
                break
            }
        }
        settle(through: report.span.upperBound)
        report.coverage += streams.compactMap(\.coverage)
    }

    /// Returns the index of the plug whose stop comes first; nil if no plug has a stop. If two have the same time, the
    /// first plug wins.
    private func nextPlug() -> Int? {
        var (found, time) = (-1, Int64.max)
        for index in stops.indices {
            guard let stop = stops[index], stop.time < time || found < 0 else { continue }
            (found, time) = (index, stop.time)
        }
        return found < 0 ? nil : found
    }

    /// Determines the next barrier and the next stop of each plug.
    private mutating func lookAhead() throws(HistoryError) {
        barrier = try nextBarrier()
        for index in streams.indices {
            ask(index)
            stops[index] = streams[index].stop(before: barrier)
        }
    }

    private mutating func ask(_ place: Int) {
        guard let index = streams[place].index else { return }
        streams[place].setQuiet(engine.quietBand(of: index))
        streams[place].energy?.setQuiet(engine.quietEnergy(of: index))
    }

    private func deadline() -> Int64 {
        guard let deadline = engine.nextDeadline else { return .max }
        // A reading at exactly the deadline comes first. A deadline between two milliseconds is handled at the later
        // one.
        let (quotient, remainder) = deadline.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return remainder > 0 ? quotient + 1 : quotient
    }

    /// The next time at which a plug turns itself off.
    private var nextAutoOff: Int64 {
        var next = Int64.max
        for relay in relays.values { next = min(next, relay.autoOff ?? .max) }
        return next
    }

    private mutating func nextBarrier() throws(HistoryError) -> Int64 {
        min(end, deadline(), nextAutoOff, nextTimer?.at ?? .max, try events.next()?.at ?? .max)
    }

    /// Advances to the barrier and handles one event there. Called when no plug has a stop up to the barrier.
    ///
    /// - Returns: False at the end of the span.
    private mutating func passBarrier() throws(HistoryError) -> Bool {
        clock = max(clock, barrier)
        let now = clock
        settle(through: now)
        if let event = try events.next(), event.at <= now {
            events.remove()
            happened(event, byRule: events.isOfRule(event))
        } else if nextAutoOff <= now, let name = relays.filter({ $0.value.autoOff ?? .max <= now }).keys.min() {
            if let event = relays[name]?.turnOffByTimer(at: now) { tell(event, of: name, at: now) }
        } else if let (timer, due) = nextTimer, due <= now {
            endTimer(timer, at: now)
        } else if deadline() <= now {
            perform(engine.handle(.deadlineReached, now: Self.instant(now)), at: now)
        } else if barrier >= end {
            return false
        }
        try lookAhead()
        return true
    }

    mutating func settle(through time: Int64) {
        for index in streams.indices { streams[index].settle(&engine, through: time) }
    }

    // MARK: Plugs

    private mutating func process(_ place: Int) throws(HistoryError) {
        guard let (time, stop) = stops[place] else { preconditionFailure("a plug without a stop was chosen") }
        clock = max(clock, time)
        streams[place].settle(&engine, through: time)
        switch stop {
        case .refill:
            let gap = streams[place].pace.gap
            try streams[place].refill()
            if let index = streams[place].index, streams[place].pace.gap != gap {
                engine.expect(readingGap: .milliseconds(streams[place].pace.gap), of: index)
                ask(place)
            }
            stops[place] = streams[place].stop(before: barrier)
        case .lost:
            settle(through: time)
            streams[place].lose()
            perform(engine.handle(.plugLost(plug: streams[place].name), now: Self.instant(time)), at: time)
            try lookAhead()
        case .energy:
            for other in asked { streams[other].settle(&engine, through: time) }
            let milliwattHours = streams[place].energy?.take() ?? 0
            let event = RuleEngineEvent.energy(plug: streams[place].name, milliwattHours: milliwattHours)
            try follow(place, engine.handle(event, now: Self.instant(time)), at: time)
        case .sample:
            guard streams[place].isPresent, let index = streams[place].index else {
                settle(through: time)
                appear(place, with: streams[place].take())
                return try lookAhead()
            }
            if try !watch(place, index) { try read(place, index, at: time) }
        }
    }

    /// Delivers the next sample to the engine.
    private mutating func read(_ place: Int, _ index: PlugIndex, at time: Int64) throws(HistoryError) {
        for other in asked { streams[other].settle(&engine, through: time) }
        let sample = streams[place].take()
        let actions = engine.read(index, activePower: sample.activePower, time: sample.time, now: sample.time)
        guard streams[place].level?.add(sample) ?? false else { return try follow(place, actions, at: time) }
        perform(actions, at: time)
        settle(through: time)
        let more = switched(place, at: time)
        if actions.isEmpty { return try follow(place, more, at: time) }
        perform(more, at: time)
        try lookAhead()
    }

    /// Delivers the next samples that only the appliance detector needs, up to the first other event.
    ///
    /// - Returns: False if the next sample is not one of these.
    private mutating func watch(_ place: Int, _ index: PlugIndex) throws(HistoryError) -> Bool {
        var horizon = min(barrier, streams[place].energy?.nextMark(before: barrier) ?? .max)
        for (other, next) in stops.enumerated() where other != place {
            guard let time = next?.time else { continue }
            // If two plugs have the same time, the first plug comes first.
            horizon = min(horizon, other < place ? time - 1 : time)
        }
        guard streams[place].watch(&engine, through: horizon) else { return false }
        let time = streams[place].last
        clock = max(clock, time)
        for other in asked { streams[other].settle(&engine, through: time) }
        try follow(place, engine.hear(index, now: Self.instant(time)), at: time)
        return true
    }

    /// Continues after a reading or a value of the energy counter. If it caused no actions, it affects no other plug.
    private mutating func follow(_ place: Int, _ actions: [RuleEngineAction], at time: Int64) throws(HistoryError) {
        guard actions.isEmpty, min(end, deadline()) >= barrier else {
            if !actions.isEmpty {
                settle(through: time)
                perform(actions, at: time)
            }
            return try lookAhead()
        }
        ask(place)
        stops[place] = streams[place].stop(before: barrier)
    }

    mutating func appear(_ place: Int, with sample: RecordedPower) {
        let (name, time) = (streams[place].name, sample.milliseconds)
        if var level = streams[place].level {
            _ = level.add(sample)
            streams[place].level = level
            relays[name]?.on = level.isOn
            switchings[name]?.stood(level.isOn)
        }
        appear(place, at: time)
        let reading = RuleEngineEvent.reading(
            plug: name, activePower: sample.activePower, time: sample.time, isSnapshot: true)
        perform(engine.handle(reading, now: sample.time), at: time)
        grant(place, at: time)
    }

    mutating func appear(_ place: Int, at time: Int64) {
        let name = streams[place].name
        streams[place].appear(at: time)
        let appeared = RuleEngineEvent.plugAppeared(
            plug: name, state: relays[name]?.state ?? PlugState(relayOn: true), boot: VirtualRelay.boot,
            id: streams[place].id, readingGap: .milliseconds(streams[place].pace.gap))
        perform(engine.handle(appeared, now: Self.instant(time)), at: time)
        streams[place].index = engine.index(of: name)
    }

    /// Handles a switching that the plug's power shows.
    private mutating func switched(_ place: Int, at time: Int64) -> [RuleEngineAction] {
        let (name, on) = (streams[place].name, streams[place].isOn)
        recorded(name, on, at: time)
        // The cause of the switching is unknown, so the engine receives a state and no event that could fire a rule.
        guard relays[name]?.on != on else { return [] }
        relays[name]?.on = on
        return engine.handle(.state(plug: name, on: on, level: nil), now: Self.instant(time))
    }
}
