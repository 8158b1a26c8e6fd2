public import PlugModel

extension BrokerMachine {
    /// The sender that the machine represents.
    public enum Speaker: Hashable, Sendable {
        /// All plugs of a house. The will is the availability of the house.
        case house
        /// One plug, which does not know the other plugs of its house. It receives only its own requests, and the will
        /// is its own availability.
        case plug(PlugID)
    }

    /// The constant settings of the machine.
    public struct Configuration: Sendable {
        /// The topics.
        public var tree: TopicTree
        /// The sender that the machine represents.
        public var speaker: Speaker
        /// Home Assistant's discovery; nil to publish no discovery messages.
        public var discovery: HomeAssistantDiscovery?
        /// The number of servers in the shell's list of broker servers.
        public var servers: Int
        /// True if clients may send commands.
        public var takesCommands: Bool
        /// True if clients may update the systems of plugs.
        public var updatesSystems: Bool

        /// Creates a configuration. `servers` below 1 counts as 1.
        public init(
            tree: TopicTree, speaker: Speaker = .house, discovery: HomeAssistantDiscovery?, servers: Int = 1,
            takesCommands: Bool = true, updatesSystems: Bool = false
        ) {
            self.tree = tree
            self.speaker = speaker
            self.discovery = discovery
            self.servers = max(1, servers)
            self.takesCommands = takesCommands
            self.updatesSystems = updatesSystems
        }

        /// The topic filters of requests.
        var requests: [String] {
            switch speaker {
            case .house: tree.requests
            case .plug(let plug): tree.requests(to: plug)
            }
        }

        /// Returns the availability topics of a plug. The plug is reachable if every topic has the payload `online`.
        func availability(of plug: PlugID) -> [String] {
            switch speaker {
            case .house: [tree.availability, tree.topic(.availability, of: plug)]
            case .plug: [tree.topic(.availability, of: plug)]
            }
        }
    }
}

extension TopicTree {
    /// Returns the retained topic to which the broker publishes `offline` when the connection ends.
    public func will(of speaker: BrokerMachine.Speaker) -> String {
        switch speaker {
        case .house: availability
        case .plug(let plug): topic(.availability, of: plug)
        }
    }
}
