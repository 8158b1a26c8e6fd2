import Hummingbird
import NIOCore

/// What is known of a request beside what it says.
struct DashboardContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Who asks; nil over the local socket, whose file lets nobody in but the daemon's own user.
    let address: SocketAddress?
    let isLocal: Bool
    /// A stream whose reader stands still is ended by it.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        let remote = source.channel.remoteAddress
        if case .unixDomainSocket? = remote { isLocal = true } else { isLocal = remote == nil }
        address = isLocal ? nil : remote
    }
}
