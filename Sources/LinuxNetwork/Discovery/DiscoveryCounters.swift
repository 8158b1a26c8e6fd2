/// Counters of datagrams since the discovery was created.
public struct DiscoveryCounters: Sendable, Hashable {
    /// The number of received datagrams.
    public var received = 0
    /// The number of received datagrams that were not valid DNS messages.
    public var malformed = 0
    /// The number of datagrams that were received on an interface that is not in use.
    public var stray = 0
    /// The number of sent datagrams that the kernel accepted.
    public var sent = 0
    /// The number of sent datagrams that the kernel refused.
    public var sendsFailed = 0
    /// The number of datagrams that were not sent because no socket was open or its queue was full.
    public var sendsDropped = 0
    /// The number of times that opening a socket failed or an open socket closed. After each of these, the socket is
    /// opened again.
    public var socketReopenings = 0
    /// The number of times that a multicast group was joined again because no other host was heard for two minutes.
    public var rejoins = 0
}

extension Discovery {
    /// The counters of all sockets, including closed ones.
    public var counters: DiscoveryCounters {
        let sockets = links.values.flatMap(\.sockets.values).reduce(into: formerSockets) { $0 += $1.counters }
        return DiscoveryCounters(
            received: sockets.received, malformed: Int(clamping: node.malformedCount), stray: strayCount,
            sent: sockets.sent, sendsFailed: sockets.sendsFailed, sendsDropped: sockets.sendsDropped,
            socketReopenings: sockets.reopenings, rejoins: sockets.rejoins)
    }
}
