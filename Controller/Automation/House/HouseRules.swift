public import PlugModel
public import ProtocolCore

/// Rules at work on a house so that each event takes its effect once, also when the process is killed at any moment: a
/// plug's cursor, what the engine is in the midst of, and the commands and effects that came of its events are stored together, and
/// only then are the commands sent, the effects performed and the events acknowledged.
///
/// The process that comes next follows each plug after its cursor. What happened meanwhile is judged as if it had been seen
/// at its time: too old to act on, it is told as held back. A command that was stored is sent again with its own id, which
/// the plug recognises; an effect is performed again, with its own id too, for whoever can recognise it. What is told may be told
/// twice by two processes, never not at all; ``HouseNotice/firing(_:)`` is told once what it did is stored.
public struct HouseRules: Machine, Sendable {
    public typealias Event = HouseRulesEvent
    public typealias Action = HouseRulesAction

    /// How long a command is worth sending: a light that goes off an hour after the film began helps nobody.
    public static let patience = Duration.seconds(10)
    /// The same for one that turns something off after its rule waited: the fan must go off, however late.
    public static let waitedPatience = Duration.seconds(86_400)
    /// How long an effect is worth doing, beside the time that it may take itself.
    public static let effectPatience = Duration.seconds(600)
    /// What no command waits for is stored so long afterwards, together with what else happens meanwhile.
    public static let gathering = Duration.milliseconds(100)
    /// A dwell that began or ended without anything to tell is stored so long afterwards at most.
    public static let lookInterval = Duration.seconds(1)
    /// How far a dwell has come, and up to when an energy was watched, is stored so often: less than the hole that it bears, ``RuleEngine/restartGap``.
    public static let refreshInterval = Duration.seconds(30)
    /// No command is kept longer for a plug that is away, whatever its rule says.
    public static let longestRemembering = Duration.seconds(31 * 86_400)

    static func patience(for effect: EffectRequest.Effect) -> Duration {
        switch effect {
        case .run(_, let timeout): effectPatience + timeout
        case .notify, .webHook: effectPatience
        }
    }

    enum Delivery: Hashable, Sendable {
        /// Decided, and being stored.
        case decided
        /// Stored; it waits for its turn at the plug.
        case ready
        case sent
        /// A later command is being stored, after which nobody waits for this one. It stays in the memory until then, so that a
        /// process that is killed meanwhile leaves somebody to tell of it.
        case overtaken(wasSent: Bool)
    }

    struct Presence: Sendable {
        let id: PlugID
        let boot: BootID
        var isFollowed = false
        /// The counter as the engine knows it.
        var milliwattHours: UInt64?
    }

    public internal(set) var memory: HouseMemory
    public internal(set) var rules: [Rule]
    /// Rules that a person turned off, by name.
    public internal(set) var disabled: Set<String>
    var engine: RuleEngine
    /// The plugs that are connected, by name.
    var present: [String: Presence] = [:]
    /// The names of the plugs that are paired; nil before they are known.
    var paired: PairedNames?
    /// How far the memory's commands are; nil where this process has not taken one up yet.
    var deliveries: [RequestID: Delivery] = [:]
    /// Commands that ended here, which the engine is to be told of.
    var answers: [RuleEngineEvent] = []
    /// A plug is back whose wish there was no room for.
    var wishesWait = false
    /// Effects that this process has asked for, or will once they are stored.
    var taken: Set<RequestID> = []
    /// Those of them that are under way.
    var begun: Set<RequestID> = []
    /// Calls that are stored, by script.
    var lines: [String: CallLine] = [:]
    /// Calls that an earlier process left and this one has not taken up yet.
    var resumable: [RequestID]
    /// Those that the rules are made of.
    var scripts: Set<String>
    var timerDeadline: Instant?
    /// When something is forgotten of a script that is away.
    var keepingDeadline: Instant?
    /// By script.
    var heldBack: [String: CommandsHeldBack] = [:]
    /// When it is told next how many timers of a script wait.
    var timersHeldBack: [String: Instant] = [:]
    var heldBackDeadline: Instant?
    /// Of the timers that ended.
    var timerBudgets: [String: CommandBudget] = [:]
    var assembly: Assembly?
    private var commit = GroupCommit<Action>()
    /// Plugs whose cursor moved since the last write began.
    private var moved: Set<PlugID> = []
    private var storageFails = false
    /// When to look whether the engine has changed in a way that is to be stored; nil while nothing was heard since.
    private var lookDue: Instant?
    /// When the last write began.
    private var written: Instant
    let began: Instant

    /// - Parameter memory: what was stored last.
    public init(rules: [Rule], memory: HouseMemory = HouseMemory(), now: Instant) {
        self.memory = memory
        self.rules = rules
        disabled = memory.engine.disabled
        // Which plugs are paired is not known yet, and a paired plug may own what looks like a different spelling of capitals.
        _ = self.memory.names.bind(rules, to: memory.plugs, foldsCapitals: false)
        engine = RuleEngine(rules: rules, memory: memory.engine)
        engine.bind(self.memory.names.plugs)
        resumable = memory.calls.elements.map(\.call.id)
        scripts = Set(rules.lazy.flatMap(\.handlers).map(\.script))
        assembly = Assembly(rules, self.memory, now: now)
        (written, began) = (now, now)
        engine.awaited = Set((memory.plugs.map(\.name) + self.memory.names.plugs.keys).map { $0.lowercased() })
        keepScripts(now: now)
    }

    public var nextDeadline: Instant? {
        let ends = memory.commands.lazy.map(\.until).min()
        let own = sooner(sooner(ends, memory.wishes.lazy.map(\.until).min()), memory.effects.lazy.map(\.until).min())
        let engine = assembly.map(\.until) ?? sooner(engine.nextDeadline, timerDeadline)
        let scripts = sooner(sooner(memory.calls.first?.until, keepingDeadline), heldBackDeadline)
        return sooner(sooner(sooner(engine, commit.nextDeadline), sooner(own, lookDue)), scripts)
    }

    /// The plugs that are connected.
    public var plugs: [(name: String, id: PlugID)] { present.map { ($0.key, $0.value.id) } }

    /// Everything that is to survive is stored, as far as it can be.
    public var isStored: Bool { commit.isClean }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        take(event, now: now, &actions)
        resumeEffects(now: now, &actions)
        expire(now: now, &actions)
        tellAnswers(now: now, &actions)
        grantWaiting(now: now, &actions)
        if let assembly, assembly.isComplete || assembly.until <= now { assemble(now: now, &actions) }
        forgetScripts(now: now)
        endTimers(now: now, &actions)
        resumeCalls(now: now, &actions)
        if let due = heldBackDeadline, due <= now { tellHeldBack(now: now, &actions) }
        if let due = lookDue, due <= now { look(now: now) }
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

    /// Something changed that the next process needs to know, but nothing waits for.
    mutating func changed(now: Instant) { commit.changed(due: now + Self.gathering) }

    /// Does it once what led to it is stored.
    mutating func afterStoring(_ action: Action, now: Instant) {
        commit.changed(due: now)
        commit.afterwards(action)
    }

    /// Does it with the next write, which is not due at once for it: what it tells of is of no use before.
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

    /// The engine heard something that need not have changed anything: a reading, for one. What readings change is looked for once a
    /// second, and not at each.
    mutating func heard(now: Instant) { if lookDue == nil { lookDue = now + Self.lookInterval } }

    private mutating func look(now: Instant) {
        lookDue = nil
        let current = engine.memory
        let hasGoneOn = !current.dwells.isEmpty && current.dwells != memory.engine.dwells
        // Else a restart after quiet hours would look like a hole in which nobody listened.
        let hasWatched = rules.contains(where: \.asksEnergy) && current.judgedUntil != memory.engine.judgedUntil
        let isRefreshed = (hasGoneOn || hasWatched) && now - written >= Self.refreshInterval
        if isRefreshed || current.differs(from: memory.engine) { commit.changed(due: now) }
    }

    /// Nothing more will come: how far dwells have come is stored too, and up to when somebody listened.
    mutating func storeAll(now: Instant) {
        lookDue = nil
        let (current, stored) = (engine.memory, memory.engine)
        let hasGoneOn = current.dwells != stored.dwells || current.judgedUntil != stored.judgedUntil
        if hasGoneOn || current.differs(from: stored) { commit.changed(due: now) }
        storeRest(now: now)
    }

    mutating func writeEnded(failure: String?, now: Instant, _ actions: inout [Action]) {
        if let failure, !storageFails { actions.append(.tell(.notStored(reason: failure))) }
        if failure == nil, storageFails { actions.append(.tell(.stored)) }
        storageFails = failure != nil
        // A disk that fails stops no light from going on: what waited is done as if it had been stored.
        for action in commit.ended() {
            switch action {
            case .send(let request):
                // It may have expired meanwhile, or been overtaken.
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
    /// Whether something else has begun or ended: not how far a dwell has come, nor up to where schedules were judged. Firings were
    /// stored when they happened, and are forgotten where they do not matter any more.
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
