import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import UnicastDNS

/// A connection to a push server by TLS. All methods must be called on the event loop.
///
/// The certificate is not verified (the opportunistic profile of RFC 8310 §5): the answers that name the server are not
/// authenticated either. TLS protects against eavesdroppers, and a controller accepts a plug only by its pinned key.
final class PushConnection: @unchecked Sendable {
    private let channel: EventLoopFuture<any Channel>

    /// The seconds without a packet after which the kernel tests the connection, the seconds between two tests, and the
    /// number of tests. A server that lost its power sends nothing, and its keepalive interval may be an hour.
    private static let idleTime = 120
    private static let testInterval = 30
    private static let testCount = 3

    /// Connects to the server.
    ///
    /// - Parameters:
    ///   - open: called once on the event loop when the connection is open, and before `receive`. The handshake of TLS
    ///     follows.
    ///   - receive: called on the event loop with each message of the server.
    ///   - fail: called on the event loop if the server is not reachable, has no TLS or closes the connection. It may
    ///     be called several times, but not before the initializer returns.
    init(
        to server: SocketAddress, on eventLoop: any EventLoop, open: @escaping @Sendable () -> Void,
        receive: @escaping @Sendable ([UInt8]) -> Void, fail: @escaping @Sendable () -> Void
    ) {
        channel = ClientBootstrap(group: eventLoop)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(.init(rawValue: TCP_KEEPIDLE)), value: Self.idleTime)
            .channelOption(.tcpOption(.init(rawValue: TCP_KEEPINTVL)), value: Self.testInterval)
            .channelOption(.tcpOption(.init(rawValue: TCP_KEEPCNT)), value: Self.testCount)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let tls = try NIOSSLClientHandler(context: Self.context(), serverHostname: nil)
                    try channel.pipeline.syncOperations.addHandlers(
                        tls, ByteToMessageHandler(StreamMessageDecoder()), MessageReader(receive: receive, fail: fail))
                }
            }
            .connect(to: server)
        channel.hop(to: eventLoop).whenComplete { result in
            switch result {
            case .success: open()
            case .failure: eventLoop.execute(fail)
            }
        }
    }

    /// Sends a message.
    func send(_ message: [UInt8]) {
        channel.whenSuccess { channel in
            var bytes = ByteBuffer()
            bytes.writeInteger(UInt16(clamping: message.count))
            bytes.writeBytes(message)
            channel.writeAndFlush(bytes, promise: nil)
        }
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
