public import PlugProtocol
public import ProtocolCore

/// What running rules must still know after their process ended, however it ended: stored as a whole, so that a plug's
/// cursor, the cooldowns and the commands that came of its events are always of one moment.
///
/// Dwells and armed thresholds are not in it: only an edge that the engine itself saw fires a rule, and nobody saw what the
/// power did while no process ran. Nor is the state of relays: a plug's snapshot brings it.
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
        public var plug: PlugID
        public var rule: String
        /// Why, in words.
        public var cause: String
        /// The event that fired the rule, where one did.
        public var event: SequenceNumber?
        /// Then it is not worth carrying out any more.
        public var until: Instant
    }

    /// Plugs remembered; the one that was met longest ago goes first. Stops ever new ids from filling the disk.
    public static let maximumPlugs = RuleEngine.maximumPlugs
    /// Commands without an answer. Stops rules that fire faster than plugs answer from filling memory and disk.
    public static let maximumCommands = 1024

    /// The one met last stands last.
    public internal(set) var plugs: [Plug] = []
    /// When the rules fired whose cooldown is not over, by name.
    public internal(set) var lastFired: [String: Instant] = [:]
    /// In the order in which they were decided.
    public internal(set) var commands: [Command] = []

    public init() {}

    /// Where to go on with each plug.
    public var cursors: [PlugID: SequenceNumber] {
        var cursors: [PlugID: SequenceNumber] = [:]
        for plug in plugs { cursors[plug.id] = plug.cursor }
        return cursors
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
