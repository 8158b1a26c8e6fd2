import NIOCore

/// Between TLS and the socket: hands on what TLS encrypted in a buffer of just its size.
///
/// TLS encrypts each write into a buffer of a whole record, 16 KiB. While a peer does not read, an event of a hundred bytes
/// would hold all of that, and the send buffer's high water mark, which counts bytes and not buffers, would come at
/// ten megabytes instead of 64 KiB.
final class CompactWritesHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var bytes = unwrapOutboundIn(data)
        if bytes.readableBytes <= bytes.storageCapacity / 2 {
            var compact = context.channel.allocator.buffer(capacity: bytes.readableBytes)
            compact.writeBuffer(&bytes)
            bytes = compact
        }
        context.write(wrapOutboundOut(bytes), promise: promise)
    }
}
