import ProtocolCore

/// Schedules publishing all retained messages again on request. Not every broker stores retained messages on each node
/// of a cluster, and Home Assistant needs them after its start.
struct Refresh: Sendable {
    /// The minimum interval between two refreshes, which bounds the traffic of repeated requests.
    static let interval = Duration.seconds(10)
    /// The random delay of a refresh in seconds, so that many houses do not answer one request at the same time.
    private static let spread = 1.0

    private(set) var due: Instant?
    private var last: Instant?

    mutating func ask(now: Instant, _ random: inout SeededRandom) {
        guard due == nil else { return }
        due =
            max(now, last.map { $0 + Self.interval } ?? now)
            + .seconds(Double.random(in: 0...Self.spread, using: &random))
    }

    /// Returns true and completes the refresh if it is due.
    mutating func take(now: Instant) -> Bool {
        guard let due, now >= due else { return false }
        (self.due, last) = (nil, now)
        return true
    }
}

extension BrokerMachine.Configuration {
    /// The topic filters that the house or the plug subscribes to.
    public var filters: [String] { requests + (discovery.map { [$0.status] } ?? []) }

    func isRefresh(_ message: BrokerMessage) -> Bool {
        message.topic == tree.refresh
            || message.topic == discovery?.status && message.payload == Array("online".utf8)
    }
}
