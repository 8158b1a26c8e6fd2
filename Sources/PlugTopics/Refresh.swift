import ProtocolCore

/// When everything that is retained is published again because somebody asks, who came too late for it: not every broker keeps retained messages
/// at each node of a cluster, and Home Assistant wants them anew when it has started.
struct Refresh: Sendable {
    /// Between two of them: stops somebody who asks all the time from filling the connection.
    static let interval = Duration.seconds(10)
    /// Within this time of being asked: houses that are asked at once do not answer at once.
    private static let spread = 1.0

    private(set) var due: Instant?
    private var last: Instant?

    mutating func ask(now: Instant, _ random: inout SeededRandom) {
        guard due == nil else { return }
        due =
            max(now, last.map { $0 + Self.interval } ?? now)
            + .seconds(Double.random(in: 0...Self.spread, using: &random))
    }

    /// Whether it is to be done now; after that it is done.
    mutating func take(now: Instant) -> Bool {
        guard let due, now >= due else { return false }
        (self.due, last) = (nil, now)
        return true
    }
}

extension BrokerMachine.Configuration {
    /// The topic filters that the house, or the plug, subscribes to.
    public var filters: [String] { requests + (discovery.map { [$0.status] } ?? []) }

    func isRefresh(_ message: BrokerMessage) -> Bool {
        message.topic == tree.refresh
            || message.topic == discovery?.status && message.payload == Array("online".utf8)
    }
}
