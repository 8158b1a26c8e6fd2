import Hummingbird
import NIOCore

/// What is known of a request beside what it says.
struct DashboardContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// A stream whose reader stands still is ended by it.
    let channel: any Channel
    /// Who asks; nil over the local socket, and of a connection that is closed already.
    let address: SocketAddress?
    /// It came over the local socket, whose file lets nobody in but the daemon's own user. Said by whose socket it is: that a
    /// connection has no address means nothing.
    var isLocal = false
    /// As whom; nil where nobody has to say.
    var pass: Pass?
    /// It came by TLS.
    var isSecure = false
    var maxUploadSize: Int { DoorLimits().body }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        address = source.channel.remoteAddress
    }
}
