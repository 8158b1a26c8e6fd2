import NIOCore
import NIOPosix
import NIOSSL

/// A TCP connection of a peer that violates the protocol.
struct Stranger {
    private let channel: any Channel

    /// Connects to a port of this host.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - address: The local address of the connection.
    ///   - greets: True to send a valid ClientHello and nothing else.
    static func connect(to port: UInt16, from address: String = "127.0.0.1", greets: Bool = false) async throws
        -> Stranger
    {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates([])
        configuration.applicationProtocols = ["smartplug/1"]
        let context = try NIOSSLContext(configuration: configuration)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(to: SocketAddress(ipAddress: address, port: 0))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DeafHandler())
                    guard greets else { return }
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: nil))
                }
            }
            .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: Int(port))).get()
        return Stranger(channel: channel)
    }

    func send(_ bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(channel.allocator.buffer(bytes: bytes))
    }

    /// Returns when the other side has closed the connection.
    func waitForEnd() async throws { try await channel.closeFuture.get() }

    func close() async throws { try await channel.close() }
}

/// Ignores all data from the other side except the end.
private final class DeafHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
