import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import UnicastDNS

/// A connection to a server that reports changes, by TLS or UDP. All methods must be called on the event loop.
///
/// The certificate is not verified (the opportunistic profile of RFC 8310 §5): the answers that name the server are not
/// authenticated either. TLS protects against eavesdroppers, and a controller accepts a plug only by its pinned key.
final class PushConnection: @unchecked Sendable {
    private let channel: EventLoopFuture<any Channel>
    private let transport: PushClient.Transport

    /// The seconds without a packet after which the kernel tests the connection, the seconds between two tests, and the
    /// number of tests. A server that lost its power sends nothing, and its keepalive interval may be an hour.
    private static let idleTime = 120
    private static let testInterval = 30
    private static let testCount = 3

    /// Connects to the server.
    ///
    /// - Parameters:
    ///   - open: called once on the event loop when the connection is open, but not before the initializer returns, and
    ///     before `receive`. The handshake of TLS follows.
    ///   - receive: called on the event loop with each message of the server.
    ///   - fail: called on the event loop if the server is not reachable, has no TLS or closes the connection. It may
    ///     be called several times, but not before the initializer returns.
    init(
        to server: SocketAddress, _ transport: PushClient.Transport, on eventLoop: any EventLoop,
        open: @escaping @Sendable () -> Void, receive: @escaping @Sendable ([UInt8]) -> Void,
        fail: @escaping @Sendable () -> Void
    ) {
        self.transport = transport
        let reader = { @Sendable in MessageReader(receive: receive, fail: fail) }
        switch transport {
        case .tls:
            channel = ClientBootstrap(group: eventLoop)
                .channelOption(.socketOption(.so_keepalive), value: 1)
                .channelOption(.tcpOption(.init(rawValue: TCP_KEEPIDLE)), value: Self.idleTime)
                .channelOption(.tcpOption(.init(rawValue: TCP_KEEPINTVL)), value: Self.testInterval)
                .channelOption(.tcpOption(.init(rawValue: TCP_KEEPCNT)), value: Self.testCount)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let tls = try NIOSSLClientHandler(context: Self.context(), serverHostname: nil)
                        try channel.pipeline.syncOperations.addHandlers(
                            tls, ByteToMessageHandler(StreamMessageDecoder()), reader())
                    }
                }
                .connect(to: server)
        case .datagram:
            channel = DatagramBootstrap(group: eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers(DatagramContent(), reader())
                    }
                }
                .connect(to: server)
        }
        channel.hop(to: eventLoop).whenComplete { result in
            // A UDP socket connects at once, before the owner has stored the connection.
            switch result {
            case .success: eventLoop.execute(open)
            case .failure: eventLoop.execute(fail)
            }
        }
    }

    /// Sends a message.
    func send(_ message: [UInt8]) {
        var bytes = ByteBuffer()
        if transport == .tls { bytes.writeInteger(UInt16(clamping: message.count)) }
        bytes.writeBytes(message)
        channel.whenSuccess { [bytes] channel in channel.writeAndFlush(bytes, promise: nil) }
    }

    func close() {
        channel.whenSuccess { $0.close(promise: nil) }
    }

    private static func context() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.certificateVerification = .none
        configuration.trustRoots = .certificates([])
        configuration.shutdownTimeout = .seconds(1)
        return try NIOSSLContext(configuration: configuration)
    }
}
