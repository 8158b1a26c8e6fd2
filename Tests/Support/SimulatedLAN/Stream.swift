internal import ProtocolCore

/// A reliable stream of bytes between two hosts, like TCP: complete and in order, or broken.
struct Stream {
    /// One of the two ends of the stream.
    struct End {
        let host: HostID
        let id: StreamID
        let interface: InterfaceID
        let endpoint: Endpoint
        /// The sequence number of its next byte in a capture.
        var sequence: UInt32 = 0
        /// False after this end was closed, reset or lost with its host; no further bytes are delivered to it.
        var isOpen = true
        var reading = true
        var writable = true
        /// The bytes that this end wrote and the other end has not received.
        var unreceived: [UInt8] = []
        /// The arrival times of the parts of ``unreceived``, in order.
        var flights: [Flight] = []
        /// True if a step for the first flight is scheduled.
        var isMoving = false
        /// The number of failed attempts for the first flight.
        var retries = 0
        /// The time of the first failed attempt.
        var blockedSince: Instant?
    }

    struct Flight {
        let arrival: Instant
        var bytes: Int
        /// True if the stream ends after these bytes.
        var finishes = false
    }

    let link: LinkID
    /// Two ends: first that of the connecting host, then that of the accepting host. The second end is not open until
    /// its host accepts the connection.
    var ends: [End]
    var wasAccepted = false
}

/// A scheduled step of a stream.
enum StreamStep {
    /// The connection request reaches the other host, if the link is up.
    case ask(Int, attempt: Int)
    /// The answer reaches the connecting host.
    case answered(Int, StreamEnd?)
    /// The first flight of this end arrives, if the link is up.
    case arrive(Int, from: Int)
    /// The reset of the other end reaches this end, if the link is up.
    case reset(Int, to: Int)
    /// No host has that address.
    case unreachable(HostID, StreamID)
}

/// The timeouts of TCP on Linux, rounded.
enum StreamTiming {
    static let firstRetransmission = Duration.milliseconds(200)
    static let longestRetransmission = Duration.seconds(60)
    static let firstConnectRetry = Duration.seconds(1)
    /// Six retries, like net.ipv4.tcp_syn_retries.
    static let connectAttempts = 7
    /// The time without an answer after which a stream times out: about 15 retransmissions, like net.ipv4.tcp_retries2.
    static let giveUp = Duration.seconds(924)
    /// The time after which an address without a host is unreachable: three link-layer requests.
    static let resolution = Duration.seconds(3)

    static func retransmission(_ retry: Int) -> Duration {
        min(firstRetransmission * (1 << min(retry, 10)), longestRetransmission)
    }
}
