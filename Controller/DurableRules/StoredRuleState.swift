public import Automation
public import PlugModel
public import ProtocolCore

/// The data with which the next process continues the rules, even if this process is killed. It is stored as a whole,
/// so that a plug's cursor, the engine's memory, and the commands and effects of its events always belong to the same
/// moment.
///
/// It does not contain the present states of relays; a plug's snapshot has them.
public struct StoredRuleState: Hashable, Sendable {
    /// A plug that was connected at least once.
    public struct Plug: Hashable, Sendable {
        /// The plug's id.
        public let id: PlugID
        /// The plug's last known name.
        public internal(set) var name: String
        /// The number of the last event that has taken effect; nil before the first one.
        public internal(set) var cursor: SequenceNumber?
    }

    /// A command that a rule decided and that its plug has not answered.
    public struct Command: Hashable, Sendable {
        /// The command, with the plug's name at the time of the decision.
        public var request: CommandRequest
        /// The plug's id. Nil for an absent plug that was never present: only its name is known.
        public var plug: PlugID?
        /// The rule's name.
        public var rule: String
        /// The cause in words.
        public var cause: String
        /// The number of the journal entry that fired the rule; nil for any other cause.
        public var event: SequenceNumber?
        /// The time at which the command expires.
        public var until: Instant
    }

    /// An effect that is not finished: a notification, a program, a web hook or a wake.
    public struct Effect: Hashable, Sendable {
        /// The effect, with its firing.
        public var request: EffectRequest
        /// The time at which the effect expires.
        public var until: Instant

        /// The maximum size of the effect's texts together in bytes. A rule file allows less, and a larger effect is
        /// rejected.
        static let maximumSize = 80_000
        static let maximumArguments = 1024
        /// The maximum size of the texts of all unfinished effects in bytes. Keeps the stored memory below its limit.
        static let maximumTotal = 2 << 20
    }

    /// The maximum number of stored plugs. The plug with the oldest last connection is evicted first. Stops a network
    /// that keeps announcing new ids from filling the disk.
    public static let maximumPlugs = RuleEngine.maximumPlugs
    /// The maximum number of unanswered commands. Stops rules that fire faster than plugs answer from filling memory
    /// and disk.
    public static let maximumCommands = 1024
    /// The maximum number of absent plugs with a stored command. Stops rules with many unknown names from filling
    /// memory and disk.
    public static let maximumDeferred = 256
    /// The maximum number of unfinished effects. Stops a web server that does not answer from filling memory and disk.
    public static let maximumEffects = 256

    /// The plugs in the order of their last connection, newest last.
    public internal(set) var plugs: [Plug] = []
    /// The state of the rule engine.
    public internal(set) var engine = EngineMemory()
    /// The unanswered commands in the order of decision.
    public internal(set) var commands: [Command] = []
    /// The commands for absent plugs, at most one per plug, in the order of decision.
    public internal(set) var deferred: [Command] = []
    /// The unfinished effects in the order of decision.
    public internal(set) var effects: [Effect] = []
    /// The unanswered script calls in the order of decision.
    public internal(set) var calls = PendingCalls()
    /// The plugs that the names in rules and scripts mean.
    public internal(set) var names = BoundNames()
    /// The persistent data of scripts, at most ``ScriptLimits/scripts``.
    public internal(set) var scripts: [Script] = []

    /// Creates the memory of a house without history.
    public init() {}

    /// The number of the last handled event of each plug, after which its events are resumed.
    public var cursors: [PlugID: SequenceNumber] {
        var cursors: [PlugID: SequenceNumber] = [:]
        for plug in plugs { cursors[plug.id] = plug.cursor }
        return cursors
    }

    /// Returns the plug that a rule means by this name, even if it is absent: the plug to which the name is bound, else
    /// the plug that last had exactly this name, else the only plug whose last name differs only in capitals. Nil if
    /// there is no such plug.
    func plug(named name: String) -> PlugID? {
        if let bound = names[name] { return bound }
        if let exact = plugs.last(where: { $0.name == name }) { return exact.id }
        let wanted = name.foldedPlugName
        let near = plugs.filter { $0.name.foldedPlugName == wanted }
        return near.count == 1 ? near[0].id : nil
    }

    func cursor(of id: PlugID) -> SequenceNumber? { plugs.last { $0.id == id }?.cursor }

    /// Records that a plug is connected under this name.
    mutating func meet(_ id: PlugID, _ name: String) {
        if let index = plugs.lastIndex(where: { $0.id == id }) {
            var plug = plugs.remove(at: index)
            plug.name = name
            plugs.append(plug)
        } else {
            if plugs.count >= Self.maximumPlugs { plugs.removeFirst() }
            plugs.append(Plug(id: id, name: name))
        }
    }

    mutating func move(_ id: PlugID, to cursor: SequenceNumber) {
        guard let index = plugs.lastIndex(where: { $0.id == id }) else { return }
        plugs[index].cursor = cursor
    }
}

extension EffectRequest.Effect {
    private var texts: [String] {
        switch self {
        case .notify(let title, let text): [title, text]
        case .run(let program, _): program
        case .webHook(let hook): [hook.url, hook.method, hook.body ?? ""]
        case .wake(let machine): [machine]
        }
    }

    /// The size of all texts together in bytes.
    var size: Int { texts.reduce(0) { $0 + $1.utf8.count } }

    /// True if the effect can be stored unchanged.
    var fits: Bool {
        size <= StoredRuleState.Effect.maximumSize && texts.count <= StoredRuleState.Effect.maximumArguments
            && texts.allSatisfy { $0.utf8.count <= StoredRuleState.maximumWords }
    }
}
