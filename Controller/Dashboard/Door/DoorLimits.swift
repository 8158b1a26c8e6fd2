/// The limits of the resources that clients can use.
struct DoorLimits: Sendable {
    /// The time limit of a request's head, which starts with its first byte. The body has the same limit, which starts
    /// with the complete head. The limit stops clients that hold a connection by sending single bytes slowly. For the
    /// first request, the limit of the head starts with the connection and includes the TLS handshake.
    var request = Duration.seconds(10)
    /// The maximum time between an answer and the first byte of the next request.
    var idle = Duration.seconds(60)
    /// The time that an answer waits for a client that accepts no bytes.
    var stalled = Duration.seconds(60)
    /// The maximum number of connections. It limits descriptors and memory. At the limit, a new connection replaces one
    /// that has not sent a complete request or waits for its next request.
    var connections = 128
    /// The maximum number of connections of users, viewers and guests together. The remaining connections are reserved
    /// for owners.
    var connectionsOfOthers = 96
    /// The maximum number of connections per password that is not an owner's.
    var connectionsOfPassword = 32
    /// The maximum number of connections per IPv4 address or IPv6 /64 network. Loopback addresses have no such limit.
    var connectionsOfAddress = 32
    /// The maximum number of bytes of a request's path and query. The longest percent-encoded name fits, and so do 64
    /// plugs by id.
    var path = 2048
    /// The maximum number of bytes of a body. The longest valid body of most routes has a few hundred bytes.
    var body = 4096
    /// The maximum number of bytes of an owner's body, which may contain a rule file with escaped characters.
    var bodyOfOwners = 262_144
    /// The maximum number of bytes of one header, the maximum number of bytes of all headers, and the maximum number of
    /// headers.
    var header = 8192
    var headers = 16384
    var headerCount = 100
    /// The time after a stop at which remaining connections are closed.
    var farewell = Duration.seconds(1)
}
