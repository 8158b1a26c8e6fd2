public import PlugModel

extension BrokerMachine {
    /// For whom the machine speaks.
    public enum Speaker: Hashable, Sendable {
        /// For all plugs of a house. The availability of the house is the will.
        case house
        /// For one plug, which others of its house do not know of: it hears requests to itself only, and its own availability is the will.
        case plug(PlugID)
    }

    public struct Configuration: Sendable {
        public var tree: TopicTree
        public var speaker: Speaker
        /// Nil: Home Assistant is told nothing.
        public var discovery: HomeAssistantDiscovery?
        /// How many servers there are to choose from.
        public var servers: Int
        /// Whether somebody may command.
        public var takesCommands: Bool

        public init(
            tree: TopicTree, speaker: Speaker = .house, discovery: HomeAssistantDiscovery?, servers: Int = 1,
            takesCommands: Bool = true
        ) {
            self.tree = tree
            self.speaker = speaker
            self.discovery = discovery
            self.servers = max(1, servers)
            self.takesCommands = takesCommands
        }

        /// The topic filters of requests.
        var requests: [String] {
            switch speaker {
            case .house: tree.requests
            case .plug(let plug): tree.requests(to: plug)
            }
        }

        /// The topics that say whether a plug is reached; all of them have to.
        func availability(of plug: PlugID) -> [String] {
            switch speaker {
            case .house: [tree.availability, tree.topic(.availability, of: plug)]
            case .plug: [tree.topic(.availability, of: plug)]
            }
        }
    }
}

extension TopicTree {
    /// The retained topic that says `offline` when the connection of the speaker ends.
    public func will(of speaker: BrokerMachine.Speaker) -> String {
        switch speaker {
        case .house: availability
        case .plug(let plug): topic(.availability, of: plug)
        }
    }
}
