import NIOCore
import NIOPosix
import UnicastDNS

/// One query to one name server, on a separate socket. All methods must be called on the event loop.
final class NameServerExchange: @unchecked Sendable {
    private let channel: EventLoopFuture<any Channel>

    /// Connects to the server and sends the query.
    ///
    /// - Parameters:
    ///   - receive: called on the event loop with each message of the server.
    ///   - fail: called on the event loop if the server is not reachable or closes the connection. It may be called
    ///     several times, but not before the initializer returns.
    init(
        _ query: [UInt8], to server: SocketAddress, _ transport: StubResolver.Transport, on eventLoop: any EventLoop,
        receive: @escaping @Sendable ([UInt8]) -> Void, fail: @escaping @Sendable () -> Void
    ) {
        let reader = { @Sendable in MessageReader(receive: receive, fail: fail) }
        switch transport {
        case .datagram:
            channel = DatagramBootstrap(group: eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers(DatagramContent(), reader())
                    }
                }
                .connect(to: server)
        case .stream:
            channel = ClientBootstrap(group: eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers(
                            ByteToMessageHandler(StreamMessageDecoder()), reader())
                    }
                }
                .connect(to: server)
        }
        var bytes = ByteBuffer()
        if transport == .stream { bytes.writeInteger(UInt16(clamping: query.count)) }
        bytes.writeBytes(query)
        channel.hop(to: eventLoop).whenComplete { [bytes] result in
            switch result {
            case .success(let channel): channel.writeAndFlush(bytes, promise: nil)
            case .failure: eventLoop.execute(fail)
            }
        }
    }

    func close() {
        channel.whenSuccess { $0.close(promise: nil) }
    }
}

/// Takes the bytes out of the datagrams of a connected socket.
final class DatagramContent: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias InboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(wrapInboundOut(unwrapInboundIn(data).data))
    }
}

/// Separates the messages of a TCP connection. Each one follows its length in two bytes (RFC 1035 §4.2.2), which limits
/// the memory to 64 KiB.
struct StreamMessageDecoder: ByteToMessageDecoder {
    typealias InboundOut = ByteBuffer

    mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) -> DecodingState {
        guard let message = buffer.readLengthPrefixedSlice(as: UInt16.self) else { return .needMoreData }
        context.fireChannelRead(wrapInboundOut(message))
        return .continue
    }
}

/// Delivers messages, and the end of the connection.
final class MessageReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let receive: ([UInt8]) -> Void
    private let fail: () -> Void

    init(receive: @escaping ([UInt8]) -> Void, fail: @escaping () -> Void) {
        self.receive = receive
        self.fail = fail
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        receive(Array(unwrapInboundIn(data).readableBytesView))
    }

    func channelInactive(context: ChannelHandlerContext) { fail() }

    /// For a datagram, the error is that the server's host refuses it (ICMP port unreachable).
    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail() }
}
