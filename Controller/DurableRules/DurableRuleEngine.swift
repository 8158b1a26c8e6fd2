import Automation
public import PlugModel
public import ProtocolCore
public import RuleModel

/// Runs rules so that each event takes effect once, even if the process is killed at any moment. A plug's cursor, the
/// engine's memory, and the commands and effects of its events are stored together. Only then are the commands sent,
/// the effects performed and the events acknowledged.
///
/// The next process resumes each plug after its cursor. It evaluates the missed events with their original times;
/// events that are too old to act on are reported as held back. A stored command is sent again with its id, which the
/// plug recognizes. An effect is repeated with its id, so that its receiver can recognize it. If a process is
/// killed, the next one may report a notice again, but none is lost; ``RuleNotice/firing(_:)`` of a firing with
/// commands, effects, calls or waits is reported after these are stored.
public struct DurableRuleEngine: Machine, Sendable {
    public typealias Event = DurableRuleEvent
    public typealias Action = DurableRuleAction

    /// How long a command may wait for its answer before it expires. A late command can do harm: a light must not turn
    /// off an hour after the film began.
    public static let patience = Duration.seconds(10)
    /// The patience for a command that turns a plug off after its rule waited. A fan must turn off even if the command
    /// is hours late.
    public static let waitedPatience = Duration.seconds(86_400)
    /// The time after which an unfinished effect expires. A program's timeout is added.
    public static let effectPatience = Duration.seconds(600)
    /// The delay before the engine stores changes for which no action waits. All changes within this delay share one
    /// write.
    public static let gathering = Duration.milliseconds(100)
    /// The maximum delay until the start or end of a dwell is stored, if no other change is stored before.
    public static let lookInterval = Duration.seconds(1)
    /// The interval at which the progress of dwells and the last observation of energy are stored. Shorter than the gap
    /// that they tolerate, ``RuleEngine/restartGap``.
    public static let refreshInterval = Duration.seconds(30)
    /// The longest time for which a command is stored for an absent plug, whatever its rule requests.
    public static let longestRemembering = Duration.seconds(31 * 86_400)

    static func patience(for effect: EffectRequest.Effect) -> Duration {
        switch effect {
        case .run(_, let timeout): effectPatience + timeout
        case .notify, .webHook, .wake: effectPatience
        }
    }

    enum Delivery: Hashable, Sendable {
        /// Decided, but not stored yet.
        case decided
        /// Stored, and waiting for its turn at the plug.
        case ready
        case sent
        /// A later command that is not stored yet supersedes this command. This command stays in the memory until the
        /// later one is stored, so that the next process can report this command's end if this process is killed.
        case overtaken(wasSent: Bool)
    }

    struct Presence: Sendable {
        let id: PlugID
        let boot: BootID
        var isFollowed = false
        /// The last counter value that the engine handled; nil before the first one.
        var milliwattHours: UInt64?
    }

    /// The data for the next process.
    public internal(set) var memory: StoredRuleState
    /// The current rules.
    public internal(set) var rules: [Rule]
    /// The names of the rules that the user disabled.
    public internal(set) var disabled: Set<String>
    var engine: RuleEngine
    /// The connected plugs, by name.
    var present: [String: Presence] = [:]
    /// The names of the paired plugs; nil while unknown.
    var paired: PairedNames?
    /// The delivery states of the memory's commands; nil for a command that this process has not resumed.
    var deliveries: [RequestID: Delivery] = [:]
    /// The results of commands that this machine refused and that the engine has not handled yet.
    var answers: [RuleEngineEvent] = []
    /// True if a stored command of a returned plug waits, because too many commands are unanswered.
    var deferredWait = false
    var effects = EffectProgress()
    /// The queues of stored calls, by script.
    var lines: [String: ScriptCallQueue] = [:]
    /// The calls of an earlier process that are not resumed yet.
    var resumable: [RequestID]
    /// The scripts that the current rules call.
    var scripts: Set<String>
    var timerDeadline: Instant?
    /// The time at which the data of a missing script is discarded.
    var keepingDeadline: Instant?
    var limits = ScriptRateLimits()
    var assembly: StartupGracePeriod?
    private var commit = GroupCommit<Action>()
    /// The plugs whose cursor moved since the last write started.
    private var moved: Set<PlugID> = []
    private var storageFails = false
    /// The time of the next check for changes in the engine; nil if nothing has happened since the last one.
    private var nextCheck: Instant?
    /// The time at which the last write started.
    private var written: Instant
    let began: Instant

    /// Creates the machine.
    ///
    /// - Parameter memory: the last stored memory.
    public init(rules: [Rule], memory: StoredRuleState = StoredRuleState(), now: Instant) {
        self.memory = memory
        self.rules = rules
        disabled = memory.engine.disabled
        // The paired plugs are unknown at this point, and a name that differs in capitals may belong to a paired plug.
        _ = self.memory.names.bind(rules, to: memory.plugs, foldsCapitals: false)
        engine = RuleEngine(rules: rules, memory: memory.engine)
        engine.bind(self.memory.names.plugs)
        resumable = memory.calls.elements.map(\.call.id)
        scripts = Set(rules.lazy.flatMap(\.handlers).map(\.script))
        assembly = StartupGracePeriod(rules, self.memory, now: now)
        (written, began) = (now, now)
        engine.expectPlugs(memory.plugs.map(\.name) + self.memory.names.plugs.keys)
        keepScripts(now: now)
    }

    /// The next time at which work is due; nil if no work is due before the next event.
    public var nextDeadline: Instant? {
        let ends = memory.commands.lazy.map(\.until).min()
        let own = sooner(sooner(ends, memory.deferred.lazy.map(\.until).min()), memory.effects.lazy.map(\.until).min())
        let engine = assembly.map(\.until) ?? sooner(engine.nextDeadline, timerDeadline)
        let scripts = sooner(sooner(memory.calls.first?.until, keepingDeadline), limits.deadline)
        return sooner(sooner(sooner(engine, commit.nextDeadline), sooner(own, nextCheck)), scripts)
    }

    /// The connected plugs.
    public var plugs: [(name: String, id: PlugID)] { present.map { ($0.key, $0.value.id) } }

    /// True if all changes are stored, or if storing them failed.
    public var isStored: Bool { commit.isClean }

    /// Handles one event. The shell must perform the returned actions in order.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        handle(event, now: now, &actions)
        resumeEffects(now: now, &actions)
        expire(now: now, &actions)
        reportAnswers(now: now, &actions)
        sendWaitingCommands(now: now, &actions)
        if let assembly, assembly.isComplete || assembly.until <= now { assemble(now: now, &actions) }
        forgetScripts(now: now)
        endTimers(now: now, &actions)
        resumeCalls(now: now, &actions)
        if let due = limits.deadline, due <= now { reportHeldBack(now: now, &actions) }
        if let due = nextCheck, due <= now { look(now: now) }
        if commit.isDue(now: now) {
            commit.begin(last: acknowledgements())
            moved = []
            memory.engine = engine.memory
            written = now
            actions.append(.store(memory))
        }
        return actions
    }

    // MARK: Storing

    /// Records a change for which no action waits.
    mutating func changed(now: Instant) { commit.changed(due: now + Self.gathering) }

    /// Runs the action after the present changes are stored, with a write that is due now.
    mutating func afterStoring(_ action: Action, now: Instant) {
        commit.changed(due: now)
        commit.afterwards(action)
    }

    /// Runs the action after the next write, which is due within ``gathering``. For actions that can wait that long,
    /// such as a notice about the change.
    mutating func onceStored(_ action: Action, now: Instant) {
        changed(now: now)
        commit.afterwards(action)
    }

    mutating func move(_ id: PlugID, to cursor: SequenceNumber, now: Instant) {
        memory.move(id, to: cursor)
        moved.insert(id)
        changed(now: now)
    }

    mutating func storeRest(now: Instant) { if !commit.isClean { commit.changed(due: now) } }

    /// Records an input that rarely changes the engine, such as a reading. The engine is then checked once per second
    /// instead of at each reading.
    mutating func heard(now: Instant) { if nextCheck == nil { nextCheck = now + Self.lookInterval } }

    private mutating func look(now: Instant) {
        nextCheck = nil
        let current = engine.memory
        let hasGoneOn = !current.dwells.isEmpty && current.dwells != memory.engine.dwells
        // The time of the last observation of energy is stored too. Otherwise a restart after quiet hours would look
        // like a gap.
        let hasWatched = rules.contains(where: \.asksEnergy) && current.judgedUntil != memory.engine.judgedUntil
        let isRefreshed = (hasGoneOn || hasWatched) && now - written >= Self.refreshInterval
        if isRefreshed || current.differs(from: memory.engine) { commit.changed(due: now) }
    }

    /// Stores everything before the process ends, including the progress of dwells and the time of the last
    /// observation.
    mutating func storeAll(now: Instant) {
        nextCheck = nil
        let (current, stored) = (engine.memory, memory.engine)
        let hasGoneOn = current.dwells != stored.dwells || current.judgedUntil != stored.judgedUntil
        if hasGoneOn || current.differs(from: stored) { commit.changed(due: now) }
        storeRest(now: now)
    }

    mutating func writeEnded(failure: String?, now: Instant, _ actions: inout [Action]) {
        if let failure, !storageFails { actions.append(.tell(.notStored(reason: failure))) }
        if failure == nil, storageFails { actions.append(.tell(.stored)) }
        storageFails = failure != nil
        // A failing disk does not stop the rules: the waiting actions run as if the write had succeeded.
        for action in commit.ended() {
            switch action {
            case .send(let request):
                // The command may have expired or been superseded meanwhile.
                guard deliveries[request.id] == .decided,
                    let command = memory.commands.first(where: { $0.request.id == request.id })
                else { continue }
                deliveries[request.id] = .ready
                if let plug = command.plug { actions += dispatch(to: plug) }
            case .perform(let request):
                guard memory.effects.contains(where: { $0.request.id == request.id }) else { continue }
                actions.append(action)
            case .withdraw(let id): endOvertaken(id, now: now, &actions)
            case .call(let call, _): askedIsStored(call, &actions)
            case .store, .acknowledge, .tell: actions.append(action)
            }
        }
    }

    private func acknowledgements() -> [Action] {
        memory.plugs.compactMap { plug in
            guard moved.contains(plug.id), let cursor = plug.cursor else { return nil }
            return .acknowledge(plug: plug.name, cursor)
        }
    }
}

extension Rule {
    fileprivate var asksEnergy: Bool {
        triggers.contains { if case .activeEnergy = $0 { true } else { false } }
    }
}

extension EngineMemory {
    /// Returns true if the memory differs in more than the progress of dwells and of schedules. Firings do not count
    /// either, because they are stored when they happen and afterwards only expire.
    fileprivate func differs(from stored: EngineMemory) -> Bool { withoutProgress != stored.withoutProgress }

    private var withoutProgress: EngineMemory {
        var memory = self
        memory.judgedUntil = nil
        memory.fired = [:]
        for index in memory.dwells.indices {
            memory.dwells[index].latest = memory.dwells[index].since
            memory.dwells[index].value = 0
        }
        return memory
    }
}
