public import PlugModel
public import ProtocolCore

/// What running rules must still know after their process ended, however it ended: stored as a whole, so that a plug's
/// cursor, what the engine was in the midst of, and the commands and effects that came of its events are always of one moment.
///
/// The state of relays is not in it: a plug's snapshot brings it.
public struct HouseMemory: Hashable, Sendable {
    public struct Plug: Hashable, Sendable {
        public let id: PlugID
        /// The name that it had last.
        public internal(set) var name: String
        /// The last event that has taken its effect.
        public internal(set) var cursor: SequenceNumber?
    }

    /// A command that a rule decided and no plug has answered.
    public struct Command: Hashable, Sendable {
        /// With the plug's name of that moment.
        public var request: CommandRequest
        /// Nil for a plug that is away and that nobody has met yet: it is known by its name alone.
        public var plug: PlugID?
        public var rule: String
        /// Why, in words.
        public var cause: String
        /// The event that fired the rule, where one did.
        public var event: SequenceNumber?
        /// Then it is not worth carrying out any more.
        public var until: Instant
    }

    /// What a rule does outside of the house, and is not done.
    public struct Effect: Hashable, Sendable {
        public var request: EffectRequest
        /// Then it is not worth doing any more.
        public var until: Instant

        /// Bytes of all its texts, more than a rule file lets through: a larger one is not taken on.
        static let maximumSize = 80_000
        static let maximumArguments = 1024
        /// Bytes of the texts of all that are not done. Keeps the stored memory below its limit.
        static let maximumTotal = 2 << 20
    }

    /// Plugs remembered; the one that was met longest ago goes first. Stops ever new ids from filling the disk.
    public static let maximumPlugs = RuleEngine.maximumPlugs
    /// Commands without an answer. Stops rules that fire faster than plugs answer from filling memory and disk.
    public static let maximumCommands = 1024
    /// Plugs that are away and for which a command is kept. Stops rules full of names that nobody bears from doing the same.
    public static let maximumWishes = 256
    /// Effects that are not done. Stops a web server that does not answer from doing the same.
    public static let maximumEffects = 256

    /// The one met last stands last.
    public internal(set) var plugs: [Plug] = []
    /// What the engine is in the midst of.
    public internal(set) var engine = EngineMemory()
    /// In the order in which they were decided.
    public internal(set) var commands: [Command] = []
    /// Commands for plugs that are away, one at most for each, in the order in which they were decided.
    public internal(set) var wishes: [Command] = []
    /// In the order in which they were decided.
    public internal(set) var effects: [Effect] = []
    /// In the order in which they were decided.
    public internal(set) var calls = CallList()
    /// What the names in rules and scripts mean.
    public internal(set) var names = BoundNames()
    /// ``ScriptLimits/scripts`` at most.
    public internal(set) var scripts: [Script] = []

    public init() {}

    /// Where to go on with each plug.
    public var cursors: [PlugID: SequenceNumber] {
        var cursors: [PlugID: SequenceNumber] = [:]
        for plug in plugs { cursors[plug.id] = plug.cursor }
        return cursors
    }

    /// The plug that a rule means by this name, although it is away: the one that the name is bound to, else by the name that it had
    /// last, capitals free where only one is meant so.
    func plug(named name: String) -> PlugID? {
        if let bound = names[name] { return bound }
        if let exact = plugs.last(where: { $0.name == name }) { return exact.id }
        let wanted = name.foldedPlugName
        let near = plugs.filter { $0.name.foldedPlugName == wanted }
        return near.count == 1 ? near[0].id : nil
    }

    func cursor(of id: PlugID) -> SequenceNumber? { plugs.last { $0.id == id }?.cursor }

    /// The plug is here, under this name.
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
        }
    }

    /// Bytes of all texts.
    var size: Int { texts.reduce(0) { $0 + $1.utf8.count } }

    /// Whether it can be kept as it is.
    var fits: Bool {
        size <= HouseMemory.Effect.maximumSize && texts.count <= HouseMemory.Effect.maximumArguments
            && texts.allSatisfy { $0.utf8.count <= HouseMemory.maximumWords }
    }
}
