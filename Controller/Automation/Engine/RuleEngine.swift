import PlugModel
public import ProtocolCore

/// Runs rules: what happens at the plugs goes in, firings and commands come out.
///
/// Only an edge that the engine itself saw fires a rule. The first reading after its start, after a plug appeared or
/// returned, or of another boot of the plug, a snapshot, and an event older than the rule takes (or of unknown age) arm or
/// disarm triggers and update what is known; they never fire. A dwell that was under way goes on over a silence of at most
/// ``restartGap`` within one boot of the plug.
///
/// Plugs are found by the id that a name is bound to, else by the name as the rule writes it, else by the one present plug whose name
/// differs in capitals only.
/// When a rule fires, its conditions are judged once, in that moment, and its actions follow in their order; of a rule whose mode is
/// queued they may begin later. One event fires a rule once, however many of its triggers it meets. A firing that waited is told as
/// ``RunStep/finished``; one that did not is done with the last of its actions in the same answer.
public struct RuleEngine: Machine, Sendable {
    public typealias Event = RuleEngineEvent
    public typealias Action = RuleEngineAction

    /// Longer silence than this interrupts a dwell. It is to be longer than the interval at which plugs report.
    public static let readingGap = Duration.seconds(5)
    /// An event older than this is history, not an occasion to act.
    public static let maximumAge = Duration.seconds(5)
    /// Plugs remembered by name; further ones are ignored. It stops a network of ever new names from filling the memory.
    public static let maximumPlugs = 1024
    /// Of a rule that says nothing of its own: stops rules that set each other off without end.
    public static let usualLimit = FiringLimit(60, within: .seconds(60))

    public var rules: [Rule] { states.map(\.rule) }
    /// Rules that a person turned off.
    public internal(set) var disabled: Set<String> = []

    // What the rules ask for.
    var states: [RuleState] = []
    var ruleIndexes: [String: Int] = [:]
    var power: [PowerTrigger] = []
    var events: [EventTrigger] = []
    var energies: [EnergyTrigger] = []
    var presence: [PresenceTrigger] = []
    var schedules: [ScheduleTrigger] = []
    var appliances: [WatchedAppliance] = []
    var timers: [ScriptTimer: [TimerTrigger]] = [:]
    /// Whether any rule restores anything, or may: nobody knows what a script will ask for.
    var needsBefores = false

    // What is known of the house, by plug's index; of triggers their places.
    var plugs = PlugTable()
    /// Names, in small letters, of plugs that an earlier process knew, and that may not be found again yet.
    var awaited: Set<String> = []
    var meters: [PlugMeter] = []
    var powerOf: [[Int]] = []
    var eventsOf: [[Int]] = []
    var energyOf: [[Int]] = []
    var senseOf: [Int?] = []
    var counters: [EnergyCounter] = []
    /// As plugs were before rules changed them, by what lasts of a plug.
    var befores: [String: EngineMemory.Before] = [:]
    /// Of plugs that have not appeared yet.
    var storedMarks: [String: [EngineMemory.EnergyMark]] = [:]
    var localTime: LocalTime?
    var sun = SunTimes.unknown

    // What is under way.
    var runs: [Run] = []
    var nextRun = 0
    /// Runs that wait for a condition.
    var waitingFor = 0
    /// Power triggers that dwell.
    var dwelling: Set<Int> = []
    var dwellDeadline: Instant?
    var presenceDeadline: Instant?
    var scheduleDeadline: Instant?
    var runDeadline: Instant?
    /// Every schedule was judged up to here.
    var judgedUntil: Instant?
    /// Up to here an earlier engine was there.
    var aliveBefore: Instant?
    /// The last time that it was told anything but a quiet reading.
    var latest = Instant.zero

    // Within one event.
    /// Kept, so that it need not be made anew with each.
    var edges: [PowerEdge] = []
    /// Rules set off by rules.
    var chained = 0
    var bandsAreOld = false
    var plugsAppeared = false
    /// What was found at the start, told with the first event.
    var told: [Action] = []

    /// The rules' names must differ from each other.
    ///
    /// - Parameter memory: what an earlier engine was in the midst of; what is of rules that are no more is ignored.
    public init(rules: [Rule], memory: EngineMemory = EngineMemory()) {
        prepare(rules)
        take(memory)
    }

    /// Something is due then, or may be: a reading that changed nothing did not move it.
    public var nextDeadline: Instant? {
        if !told.isEmpty { return latest }
        return sooner(sooner(dwellDeadline, presenceDeadline), sooner(scheduleDeadline, runDeadline))
    }

    /// What written names mean, whatever the plugs of these ids are called; other names are looked for among those of the plugs.
    ///
    /// - Parameter paired: the names of all paired plugs, which mean no other plugs; nil if they are not known.
    mutating func bind(_ names: [String: PlugID], paired: PairedNames? = nil) {
        let paired = paired ?? PairedNames()
        guard names != plugs.bound || paired != plugs.paired else { return }
        (plugs.bound, plugs.paired) = (names, paired)
        bind()
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        if case .reading(let plug, let activePower, let time, false) = event {
            // The fast way has its own beginning and end.
            return plugs.index(of: plug).map {
                read(PlugIndex(value: $0), activePower: activePower, time: time, now: now)
            } ?? []
        }
        var actions: [Action] = []
        begin(now: now, &actions)
        take(event, now: now, &actions)
        finish(now: now, &actions)
        return actions
    }

    private mutating func take(_ event: Event, now: Instant, _ actions: inout [Action]) {
        switch event {
        case .rulesChanged(let rules): replace(rules, now: now, &actions)
        case .ruleEnabled(let rule, let isOn): enable(rule, isOn, &actions)
        case .ruleRun(let rule, let id): runByHand(rule, id: id, now: now, &actions)
        case .plugAppeared(let plug, let state, let boot, let id, let gap):
            appear(plug, state, boot, id, gap: gap, now: now, &actions)
        case .plugLost(let plug): lose(plug, now: now)
        case .reading(let plug, let activePower, let time, _):
            guard let index = plugs.index(ofPresent: plug), !activePower.isNaN else { return }
            snapshot(index, activePower, time: time, now: now, &actions)
        case .energy(let plug, let milliwattHours): energy(plug, milliwattHours, now: now, &actions)
        case .state(let plug, let on, let level): state(plug, on: on, level: level)
        case .happened(let plug, let event, let age): happened(plug, event, age: age, now: now, &actions)
        case .gap(let plug, let last): plugs.gap(plug, to: last)
        case .recorded(let plug, let samples): recorded(plug, samples)
        case .commandResumed(let request):
            guard let index = plugs.index(ofPresent: request.plug) else { return }
            plugs.expect(request, at: index)
        case .commandFinished(let plug, let id, let outcome): finished(plug, id, outcome)
        case .clockChanged(let time, let sun): clockChanged(time, sun, now: now)
        case .timerEnded(let timer, let call, let age): ended(timer, startedBy: call, age: age, now: now, &actions)
        case .scriptAnswered(let call, let wanted): answered(call, wanted, &actions)
        case .deadlineReached: break
        }
    }

    // MARK: Each event

    mutating func begin(now: Instant, _ actions: inout [Action]) {
        latest = now
        chained = 0
        guard !told.isEmpty else { return }
        actions += told
        told = []
    }

    /// What is due, and what waits for what has just changed.
    mutating func finish(now: Instant, _ actions: inout [Action]) {
        endDwells(now: now, &actions)
        endPresence(now: now, &actions)
        endSchedules(now: now, &actions)
        wakeRuns(now: now, &actions)
        guard bandsAreOld else { return }
        bandsAreOld = false
        for index in 0..<plugs.count { refresh(index) }
    }
}
