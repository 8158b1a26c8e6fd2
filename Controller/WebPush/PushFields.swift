/// The header fields of a request to a push service (RFC 8030 §5).
public struct PushFields: Hashable, Sendable {
    /// The urgency of a message (RFC 8030 §5.3). A device that saves energy may get less urgent messages later.
    public enum Urgency: String, Sendable {
        case veryLow = "very-low"
        case low, normal, high
    }

    private static let longestTopic = 32

    private let timeToLive: Int
    private let urgency: Urgency
    private let topic: String

    /// - Parameters:
    ///   - timeToLive: the time in seconds for which the push service keeps the message while the device is away
    ///     (RFC 8030 §5.2).
    ///   - topic: a message replaces an undelivered message with the same topic (RFC 8030 §5.4).
    /// - Returns: nil if the time is negative, or if the topic does not have 1 to 32 characters of the base64url
    ///   alphabet.
    public init?(timeToLive: Int, urgency: Urgency, topic: String) {
        guard timeToLive >= 0, (1...Self.longestTopic).contains(topic.utf8.count),
            topic.utf8.allSatisfy(Self.isOfTopic)
        else { return nil }
        self.timeToLive = timeToLive
        self.urgency = urgency
        self.topic = topic
    }

    /// Returns the fields.
    ///
    /// - Parameter authorization: see ``ApplicationServerKey/authorization(for:contact:now:)``.
    public func fields(authorization: String) -> [(name: String, value: String)] {
        [
            ("Authorization", authorization), ("TTL", "\(timeToLive)"), ("Urgency", urgency.rawValue),
            ("Topic", topic), ("Content-Encoding", "aes128gcm"), ("Content-Type", "application/octet-stream"),
        ]
    }

    private static func isOfTopic(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        case _: false
        }
    }
}
