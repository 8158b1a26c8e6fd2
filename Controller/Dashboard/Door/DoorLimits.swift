/// The limits of the resources that clients can use.
struct DoorLimits: Sendable {
    /// The time for the head of a request, from its first byte on, and again for the body, from the complete head on.
    /// It stops clients that hold a connection by sending a byte now and then. The time for the first head begins with
    /// the connection and includes the TLS handshake.
    var request = Duration.seconds(10)
    /// The time between two requests.
    var idle = Duration.seconds(60)
    /// The time that an answer waits for a client that accepts no bytes.
    var stalled = Duration.seconds(60)
    /// The maximum number of connections. It limits descriptors and memory. A connection that waits for a request is
    /// closed for a new one.
    var connections = 128
    /// The maximum number of connections of users, viewers and guests together. The remaining connections are reserved
    /// for owners.
    var connectionsOfOthers = 96
    /// The maximum number of connections per password that is not an owner's.
    var connectionsOfPassword = 32
    /// The maximum number of connections per address, except loopback.
    var connectionsOfAddress = 32
    /// The maximum number of bytes of a request's path and query. The longest percent-encoded name fits, and so do 64
    /// plugs by id.
    var path = 2048
    /// The maximum number of bytes of a body. The longest valid body has a few hundred bytes.
    var body = 4096
    /// The maximum number of bytes of one header, the maximum number of bytes of all headers, and the maximum number of
    /// headers.
    var header = 8192
    var headers = 16384
    var headerCount = 100
    /// The time after which remaining connections are closed at a stop.
    var farewell = Duration.seconds(1)
}
