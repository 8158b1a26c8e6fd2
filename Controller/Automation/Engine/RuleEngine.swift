import HouseCalendar
import PlugModel
public import ProtocolCore

/// Runs rules: handles events of the plugs and returns firings and commands.
///
/// A rule fires only on an edge that this engine observed. These inputs arm or disarm triggers and update the state,
/// but are not edges: the first reading after the start, after a plug appeared or returned, or of a new boot of the
/// plug; a snapshot; an event that is older than the rule accepts or has an unknown age. A dwell in progress continues
/// after a silence of at most ``restartGap`` within one boot of the plug, so the first reading after the silence may
/// complete the dwell and fire.
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
    /// The default age above which an event does not fire a rule.
    public static let maximumAge = Duration.seconds(5)
    /// The maximum number of stored plug names; further plugs are ignored. Stops a network that keeps announcing new
    /// names from filling the memory.
    public static let maximumPlugs = 1024
    /// The limit of a rule without its own limit. Stops rules that fire each other endlessly.
    public static let usualLimit = FiringLimit(60, within: .seconds(60))

    /// The current rules.
    public var rules: [Rule] { states.map(\.rule) }
    /// The names of the rules that the user disabled.
    public internal(set) var disabled: Set<String> = []

    // The rules and their triggers.
    var states: [RuleState] = []
    var ruleIndexes: [String: Int] = [:]
    var power: [PowerTrigger] = []
    var events: [EventTrigger] = []
    var energies: [EnergyTrigger] = []
    var presence: [PresenceTrigger] = []
    var schedules: [ScheduleTrigger] = []
    var appliances: [WatchedAppliance] = []
    var timers: [ScriptTimer: [TimerTrigger]] = [:]
    /// True if any rule restores a plug, or calls a script. The script may restore a plug.
    var needsBefores = false

    // The state of the house.
    var plugs = PlugTable()
    /// The lowercased names of the plugs that an earlier process knew. Emptied by the first script answer that arrives
    /// at least ``reunion`` after the start.
    var awaited: Set<String> = []
    /// The rules' view of each plug, by the plug's index.
    var slots: [PlugSlot] = []
    /// The states of plugs before a rule changed them, by the plug's permanent name.
    var savedStates: [String: EngineMemory.Before] = [:]
    /// The stored energy marks of plugs that have not appeared yet, by the plug's permanent name.
    var storedMarks: [String: [EngineMemory.EnergyMark]] = [:]
    var localTime: LocalTime?
    var sun = SunTimes.unknown

    // The runs and timers in progress.
    var runs: [Run] = []
    var nextRun = 0
    /// The number of runs that wait for a condition.
    var waitingFor = 0
    /// The places of power triggers whose dwell is in progress.
    var dwelling: Set<Int> = []
    var dwellDeadline: Instant?
    var presenceDeadline: Instant?
    var scheduleDeadline: Instant?
    var runDeadline: Instant?
    /// The time up to which every schedule was evaluated; nil if the local time was never known.
    var judgedUntil: Instant?
    /// The time up to which an earlier engine ran; nil if unknown.
    var aliveBefore: Instant?
    /// The time of the last event that was not a quiet reading.
    var latest = Instant.zero

    // The state that is used only within one event.
    /// Reused between events to avoid allocations.
    var edges: [PowerEdge] = []
    /// The number of firings within this event that other rules caused.
    var chained = 0
    var quietBandsNeedRefresh = false
    var plugsAppeared = false
    /// The actions that restoring the memory produced. They are returned with the result of the first event.
    var told: [Action] = []

    /// Creates an engine. The rules must have different names.
    ///
    /// - Parameter memory: the stored state of an earlier engine. State of removed rules is ignored.
    public init(rules: [Rule], memory: EngineMemory = EngineMemory()) {
        prepare(rules)
        restore(memory)
    }

    /// The next time at which work is due; nil if no work is due before the next event. It may be too early, because a
    /// quiet reading does not postpone it.
    public var nextDeadline: Instant? {
        if !told.isEmpty { return latest }
        return sooner(sooner(dwellDeadline, presenceDeadline), sooner(scheduleDeadline, runDeadline))
    }

    /// Sets which plugs the written names mean. Other names are searched among the names of the present plugs.
    ///
    /// - Parameter paired: the names of all paired plugs. Such a name means only its paired plug. Nil if unknown.
    mutating func bind(_ names: [String: PlugID], paired: PairedNames? = nil) {
        let paired = paired ?? PairedNames()
        guard names != plugs.bound || paired != plugs.paired else { return }
        (plugs.bound, plugs.paired) = (names, paired)
        bind()
    }

    /// Handles one event and returns the resulting firings, commands and steps.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        if case .reading(let plug, let activePower, let time, false) = event {
            // The fast path calls `begin` and `finish` itself.
            return plugs.index(of: plug).map {
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

    /// Runs what is due and resumes runs whose wait has ended.
    mutating func finish(now: Instant, _ actions: inout [Action]) {
        endDwells(now: now, &actions)
        endPresence(now: now, &actions)
        endSchedules(now: now, &actions)
        wakeRuns(now: now, &actions)
        guard quietBandsNeedRefresh else { return }
        quietBandsNeedRefresh = false
        for index in 0..<plugs.count { refresh(index) }
    }
}
