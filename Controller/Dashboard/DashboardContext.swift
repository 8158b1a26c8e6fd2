import Hummingbird
import NIOCore

/// The context of a request: its connection, its sender and its authorization.
struct DashboardContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The channel of the connection. The event stream closes it if the client accepts no bytes for a minute, or if the
    /// client's authorization ends.
    let channel: any Channel
    /// The address of the client; nil over the local socket and for a connection that is already closed.
    let address: SocketAddress?
    /// True if the request came over the local socket, whose file only the daemon's own user can open. The value is set
    /// from the socket and not from the address, because a closed TCP connection has no address.
    var isLocal = false
    /// The authorization of the request; nil over TCP if the path needs no login.
    var pass: Authorization?
    /// True if the client uses TLS, with this daemon or with its configured proxy. Cookies are then for
    /// TLS only.
    var isSecure = false
    var maxUploadSize: Int { DoorLimits().bodyOfOwners }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        address = source.channel.remoteAddress
    }
}
