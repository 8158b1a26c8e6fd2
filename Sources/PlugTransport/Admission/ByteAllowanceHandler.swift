import NIOCore

/// Stands before TLS for as long as the connection is not known as a paired controller's, and ends it when more has come in than
/// a handshake and a pairing take.
final class ByteAllowanceHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    static let name = "byte allowance"

    private var left: Int

    init(_ bytes: Int) { left = bytes }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        left -= unwrapInboundIn(data).readableBytes
        guard left >= 0 else { return context.close(promise: nil) }
        context.fireChannelRead(data)
    }
}
