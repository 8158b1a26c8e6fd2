/// What went over the network since the discovery was made, in datagrams.
public struct DiscoveryCounters: Sendable, Hashable {
    public var received = 0
    /// Received, and no DNS message.
    public var malformed = 0
    /// Received on an interface that is not in use.
    public var stray = 0
    public var sent = 0
    /// Refused by the kernel.
    public var sendsFailed = 0
    /// Never tried: the socket was being reopened, or the kernel had no room.
    public var sendsDropped = 0
    /// How often a socket had to be opened again.
    public var socketReopenings = 0
    /// How often a multicast group was joined again because nobody was heard for two minutes.
    public var rejoins = 0
}

extension Discovery {
    public var counters: DiscoveryCounters {
        let sockets = links.values.flatMap(\.sockets.values).reduce(into: formerSockets) { $0 += $1.counters }
        return DiscoveryCounters(
            received: sockets.received, malformed: Int(clamping: node.malformedCount), stray: strayCount,
            sent: sockets.sent, sendsFailed: sockets.sendsFailed, sendsDropped: sockets.sendsDropped,
            socketReopenings: sockets.reopenings, rejoins: sockets.rejoins)
    }
}
