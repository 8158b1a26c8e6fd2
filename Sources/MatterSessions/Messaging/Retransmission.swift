internal import ProtocolCore

/// A reliable message that the peer has not acknowledged (Matter 4.12).
struct Retransmission: Sendable {
    /// The number of transmissions of a message (MRP_MAX_TRANSMISSIONS).
    static let transmissionLimit = 5
    /// The upper limit of a peer's interval. A session parameter can request up to an hour, and a message of a peer that
    /// left would occupy its exchange for hours.
    private static let intervalLimit = Duration.seconds(60)
    /// The time after which a received message is acknowledged alone (MRP_STANDALONE_ACK_TIMEOUT).
    static let acknowledgementDelay = Duration.milliseconds(200)
    private static let margin = 1.1
    private static let base = 1.6
    private static let jitter = 0.25

    let counter: UInt32
    /// The encoded message. A retransmission has the same counter, so that the receiver detects duplicates.
    let datagram: [UInt8]
    private(set) var transmissions = 1
    private(set) var deadline: Instant

    init(
        counter: UInt32, datagram: [UInt8], interval: Duration, random: inout SeededRandom, now: Instant
    ) {
        (self.counter, self.datagram) = (counter, datagram)
        deadline = now + Self.backoff(interval, after: 1, random: &random)
    }

    /// Returns the datagram for the next transmission, or nil if the message has failed.
    mutating func next(interval: Duration, random: inout SeededRandom, now: Instant) -> [UInt8]? {
        guard transmissions < Self.transmissionLimit else { return nil }
        transmissions += 1
        deadline = now + Self.backoff(interval, after: transmissions, random: &random)
        return datagram
    }

    /// Returns the time to wait for an acknowledgement (Matter 4.12.2.1).
    ///
    /// - Parameters:
    ///   - interval: the peer's interval.
    ///   - transmissions: the number of transmissions until now, from 1 on. The first two waits are equal.
    private static func backoff(
        _ interval: Duration, after transmissions: Int, random: inout SeededRandom
    ) -> Duration {
        var factor = margin * (1 + jitter * Double.random(in: 0...1, using: &random))
        for _ in 0..<max(0, transmissions - 2) { factor *= base }
        return min(max(interval, .zero), intervalLimit) * factor
    }
}
