import NIOCore
import NIOPosix

/// The socket to the control interface of wpa_supplicant for one network interface (`wpa_ctrl.h`): each datagram has one
/// command, one answer or one event.
struct SupplicantSocket: Sendable {
    private let channel: any Channel
    private let server: SocketAddress

    /// Opens the socket and finds wpa_supplicant's one.
    ///
    /// - Parameters:
    ///   - server: the path of wpa_supplicant's socket.
    ///   - path: the path of the plug's socket, to which wpa_supplicant sends.
    ///   - receive: called on the event loop with each datagram.
    ///   - fail: called on the event loop after an error.
    static func open(
        _ server: String, path: String, on eventLoop: any EventLoop, receive: @escaping @Sendable (String) -> Void,
        fail: @escaping @Sendable () -> Void
    ) -> EventLoopFuture<SupplicantSocket> {
        eventLoop.makeCompletedFuture { try SocketAddress(unixDomainSocketPath: server) }.flatMap { address in
            DatagramBootstrap(group: eventLoop)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: largestDatagram))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Reader(receive: receive, fail: fail))
                    }
                }
                .bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true)
                .map { SupplicantSocket(channel: $0, server: address) }
        }
    }

    /// The largest datagram of wpa_supplicant in bytes: a list of found networks.
    private static let largestDatagram = 16_384

    /// Sends a command. `fail` is called if wpa_supplicant has ended.
    func send(_ command: String, fail: @escaping @Sendable () -> Void) {
        channel.writeAndFlush(AddressedEnvelope(remoteAddress: server, data: ByteBuffer(string: command)))
            .whenFailure { _ in fail() }
    }

    func close() { channel.close(promise: nil) }

    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>

        private let receive: @Sendable (String) -> Void
        private let fail: @Sendable () -> Void

        init(receive: @escaping @Sendable (String) -> Void, fail: @escaping @Sendable () -> Void) {
            (self.receive, self.fail) = (receive, fail)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            receive(String(buffer: unwrapInboundIn(data).data))
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { fail() }
    }
}
