import HummingbirdCore
import Logging
import NIOCore
import NIOPosix

/// A socket that listens, and the guests that came in by it.
struct OpenDoor {
    enum Place {
        case network(DashboardSettings.Place)
        case local(path: String)
    }

    private struct Full: Error {}

    let channel: any Channel
    private let guests: Guests

    /// - Parameter child: what each connection speaks.
    init(
        _ place: Place, guests: Guests, logger: Logger, child: some ServerChildChannel
    ) async throws {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                guard guests.admit(channel) else { return channel.eventLoop.makeFailedFuture(Full()) }
                // Nothing between making a connection's value and its task: it must not be dropped without being run.
                return child.setup(channel: channel, logger: logger).map { value in
                    guests.serve(channel) { await child.handle(value: value, logger: logger) }
                }
            }
        switch place {
        case .network(let place): channel = try await bootstrap.bind(host: place.host, port: place.port).get()
        case .local(let path): channel = try await bootstrap.bind(unixDomainSocketPath: path).get()
        }
        self.guests = guests
    }

    /// Returns when the task is cancelled, or the socket has failed, and all guests have gone.
    ///
    /// - Parameter closing: called at a cancellation while it still listens.
    func stayOpen(farewell: Duration, closing: @escaping @Sendable () -> Void = {}) async {
        await withTaskCancellationHandler {
            try? await channel.closeFuture.get()
        } onCancel: {
            closing()
            channel.close(promise: nil)
        }
        await guests.dismiss(within: farewell)
    }
}
