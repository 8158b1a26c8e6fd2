import HummingbirdCore
import Logging
import NIOCore
import NIOPosix

/// A listening socket and its connections.
struct ServerListener {
    enum Place {
        case network(DashboardSettings.Place)
        case local(path: String)
    }

    private struct Full: Error {}

    let channel: any Channel
    private let guests: ConnectionTracker

    /// Opens the socket.
    ///
    /// - Parameter child: the protocol of each connection.
    init(
        _ place: Place, guests: ConnectionTracker, logger: Logger, child: some ServerChildChannel
    ) async throws {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                guard guests.admit(channel) else { return channel.eventLoop.makeFailedFuture(Full()) }
                // The task is started in the same step that creates the value, because a created value must be handled.
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

    /// Waits until the task is cancelled or the socket fails. Then ends all connections within `farewell`, and returns.
    ///
    /// - Parameter closing: called on cancellation while the socket still listens.
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
