import NIOCore

/// Copies encrypted data of TLS that fills at most half of its buffer into a buffer of its exact size, between TLS and
/// the socket.
///
/// TLS encrypts each write into a buffer for a whole record, 16 KiB. While a peer does not read, an event of a hundred
/// bytes would occupy such a buffer. The send buffer's high water mark counts bytes and not buffers, so it would take
/// effect at ten megabytes of memory instead of 64 KiB.
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
