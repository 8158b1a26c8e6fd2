/// What a stranger may take of us.
struct DoorLimits: Sendable {
    /// For a request's head, and again for its body, from their first byte on, however steadily they come: it stops those who hold
    /// connections with a byte now and then. The first head has it from the connection on, handshake of TLS included.
    var request = Duration.seconds(10)
    /// Between requests.
    var idle = Duration.seconds(60)
    /// For which an answer may wait for a reader who takes nothing.
    var stalled = Duration.seconds(60)
    /// Descriptors and memory of all connections together; one that waits for a request makes room for a new one.
    var connections = 128
    /// Connections by which requests of users, viewers and guests came, together; what is left is the reserve of the owners.
    var connectionsOfOthers = 96
    /// Connections of one password that is not an owner's.
    var connectionsOfPassword = 32
    /// Of one address other than loopback.
    var connectionsOfAddress = 32
    /// Bytes of a request's path and query. The longest name, percent-encoded, fits, and so do 64 plugs by their ids.
    var path = 2048
    /// Bytes of a body. The longest that has a meaning is a few hundred.
    var body = 4096
    /// Bytes of one header and of all, and their count.
    var header = 8192
    var headers = 16384
    var headerCount = 100
    /// After which those who do not end by themselves are cut off at a stop.
    var farewell = Duration.seconds(1)
}
