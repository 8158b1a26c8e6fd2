import PlugProtocol
public import ProtocolCore

/// Rules at work on a house so that each event takes its effect once, also when the process is killed at any moment: a
/// plug's cursor, the cooldowns and the commands that came of its events are stored together, and only then are the
/// commands sent and the events acknowledged.
///
/// The process that comes next follows each plug after its cursor. What happened meanwhile is judged as if it had been seen
/// at its time: too old to act on, it is told as held back. A command that was stored is sent again with its own id, which
/// the plug recognises. What is told may be told twice by two processes, never not at all; ``HouseNotice/firing(_:)`` is
/// told once what it did is stored.
public struct HouseRules: Machine, Sendable {
    public typealias Event = HouseRulesEvent
    public typealias Action = HouseRulesAction

    /// How long a command is worth sending: a light that goes off an hour after the film began helps nobody.
    public static let patience = Duration.seconds(10)
    /// What no command waits for is stored so long afterwards, together with what else happens meanwhile.
    public static let gathering = Duration.milliseconds(100)

    enum Delivery: Hashable, Sendable {
        /// Decided, and being stored.
        case decided
        /// Stored; it waits for its turn at the plug.
        case ready
        case sent
    }

    struct Presence: Sendable {
        let id: PlugID
        let boot: BootID
        var isFollowed = false
    }

    public internal(set) var memory: HouseMemory
    var engine: RuleEngine
    /// The plugs that are connected, by name.
    var present: [String: Presence] = [:]
    /// How far the memory's commands are; nil where this process has not taken one up yet.
    var deliveries: [RequestID: Delivery] = [:]
    var assembly: Assembly?
    private var commit = GroupCommit<Action>()
    /// Plugs whose cursor moved since the last write began.
    private var moved: Set<PlugID> = []
    private var storageFails = false

    /// - Parameter memory: what was stored last.
    public init(rules: [Rule], memory: HouseMemory = HouseMemory(), now: Instant) {
        self.memory = memory
        var remembered = EngineMemory()
        remembered.fired = memory.lastFired.mapValues { [$0] }
        engine = RuleEngine(rules: rules, memory: remembered)
        assembly = Assembly(rules, memory, now: now)
    }

    public var nextDeadline: Instant? {
        let expiry = memory.commands.lazy.map(\.until).min()
        return sooner(sooner(engine.nextDeadline, commit.nextDeadline), sooner(expiry, assembly?.until))
    }

    /// Everything that is to survive is stored, as far as it can be.
    public var isStored: Bool { commit.isClean }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        take(event, now: now, &actions)
        expireCommands(now: now, &actions)
        if let assembly, assembly.isComplete || assembly.until <= now { assemble(now: now, &actions) }
        if commit.isDue(now: now) {
            commit.begin(last: acknowledgements())
            moved = []
            memory.lastFired = engine.memory.fired.compactMapValues(\.last)
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

    mutating func move(_ id: PlugID, to cursor: SequenceNumber, now: Instant) {
        memory.move(id, to: cursor)
        moved.insert(id)
        changed(now: now)
    }

    mutating func storeRest(now: Instant) { if !commit.isClean { commit.changed(due: now) } }

    mutating func writeEnded(failure: String?, _ actions: inout [Action]) {
        if let failure, !storageFails { actions.append(.tell(.notStored(reason: failure))) }
        if failure == nil, storageFails { actions.append(.tell(.stored)) }
        storageFails = failure != nil
        // A disk that fails stops no light from going on: what waited is done as if it had been stored.
        for action in commit.ended() {
            switch action {
            case .send(let request):
                // It may have expired meanwhile.
                guard let command = memory.commands.first(where: { $0.request.id == request.id }) else { continue }
                deliveries[request.id] = .ready
                actions += dispatch(to: command.plug)
            case .store, .withdraw, .perform, .acknowledge, .tell: actions.append(action)
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
