internal import ProtocolCore

/// A reliable stream of bytes between two hosts, as TCP gives it: in order and whole, or broken.
struct Stream {
    /// One of its two ends.
    struct End {
        let host: HostID
        let id: StreamID
        let interface: InterfaceID
        let endpoint: Endpoint
        /// The number of its next byte in a capture.
        var sequence: UInt32 = 0
        /// False once this end was closed, reset or lost with its host; nothing is delivered to it any more.
        var isOpen = true
        var reading = true
        var writable = true
        /// What this end wrote and the other has not received yet.
        var unreceived: [UInt8] = []
        /// When the parts of ``unreceived`` arrive, in order.
        var flights: [Flight] = []
        /// A step is scheduled that brings the first flight.
        var isMoving = false
        /// How often the first flight found no way, and since when.
        var retries = 0
        var blockedSince: Instant?
    }

    struct Flight {
        let arrival: Instant
        var bytes: Int
        /// The end of the stream, behind its last byte.
        var finishes = false
    }

    let link: LinkID
    /// The host that connected, and the one that accepted; the latter is open once it did.
    var ends: [End]
    var wasAccepted = false
}

/// A step of a stream that comes at its time.
enum StreamStep {
    /// The request to connect reaches the other host, if there is a way.
    case ask(Int, attempt: Int)
    /// The answer reaches the host that asked.
    case answered(Int, StreamEnd?)
    /// The first flight that this end wrote arrives, if there is a way.
    case arrive(Int, from: Int)
    /// The news that the other end is gone reaches this end, if there is a way.
    case reset(Int, to: Int)
    /// Nobody has that address.
    case unreachable(HostID, StreamID)
}

/// Times of TCP as Linux keeps them, rounded.
enum StreamTiming {
    static let firstRetransmission = Duration.milliseconds(200)
    static let longestRetransmission = Duration.seconds(60)
    static let firstConnectRetry = Duration.seconds(1)
    /// Six retries, as net.ipv4.tcp_syn_retries has it.
    static let connectAttempts = 7
    /// About fifteen retransmissions, as net.ipv4.tcp_retries2 has it.
    static let giveUp = Duration.seconds(924)
    /// An address without a host is known to be unreachable after the link layer has asked three times.
    static let resolution = Duration.seconds(3)

    static func retransmission(_ retry: Int) -> Duration {
        min(firstRetransmission * (1 << min(retry, 10)), longestRetransmission)
    }
}
