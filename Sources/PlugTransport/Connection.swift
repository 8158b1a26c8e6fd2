import NIOCore
public import PlugProtocol

/// One TCP connection as its owner sees it: bytes out and an end. Everything that comes in reaches the ``ConnectionOwner``.
public struct Connection: Sendable {
    public let id: ConnectionID
    /// Address and port of the other side, for logs and limits.
    public let peer: String
    private let channel: any Channel
    private let flushIsDue: NIOLoopBoundBox<Bool>

    /// On the channel's event loop, as everything here.
    init(id: ConnectionID, channel: any Channel) {
        self.id = id
        self.channel = channel
        flushIsDue = NIOLoopBoundBox(false, eventLoop: channel.eventLoop)
        peer = channel.remoteAddress?.description ?? "unknown peer"
    }

    /// Queues the bytes. A failed write closes the connection, which the owner hears of; no other report is made.
    ///
    /// What is sent before the event loop looks at the network again goes out in one call of the kernel.
    public func send(_ bytes: [UInt8]) {
        channel.write(channel.allocator.buffer(bytes: bytes), promise: nil)
        guard !flushIsDue.value else { return }
        flushIsDue.value = true
        channel.eventLoop.execute { [channel, flushIsDue] in
            flushIsDue.value = false
            channel.flush()
        }
    }

    /// Stops taking bytes from the network, so that the peer waits, or goes on.
    public func setReading(_ reads: Bool) {
        channel.setOption(.autoRead, value: reads).whenFailure { _ in }
    }

    /// Closes after the bytes that were queued so far are written.
    public func close() {
        channel.writeAndFlush(channel.allocator.buffer(capacity: 0)).whenComplete { [channel] _ in
            channel.close(promise: nil)
        }
    }
}

/// The actor that connections report to. Its executor is the event loop of its connections, so that a report is a plain call.
public protocol ConnectionOwner: Actor {
    func opened(_ connection: Connection)
    func received(_ bytes: [UInt8], on id: ConnectionID)
    /// False when the connection's send buffer passed its high water mark, true when it fell below the low one.
    func writable(_ isWritable: Bool, on id: ConnectionID)
    func closed(_ id: ConnectionID)
}

/// Hands what a channel reports to the connection's owner.
final class OwnerHandler<Owner: ConnectionOwner>: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let id: ConnectionID
    private let owner: Owner

    init(id: ConnectionID, owner: Owner) {
        self.id = id
        self.owner = owner
    }

    func channelActive(context: ChannelHandlerContext) {
        let connection = Connection(id: id, channel: context.channel)
        owner.assumeIsolated { $0.opened(connection) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(unwrapInboundIn(data).readableBytesView)
        owner.assumeIsolated { $0.received(bytes, on: id) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        owner.assumeIsolated { $0.writable(isWritable, on: id) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        owner.assumeIsolated { $0.closed(id) }
    }

    /// A connection that failed is closed: the protocol resumes on the next one, so there is nothing to save here.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

enum SocketLimits {
    /// Bytes that may wait in a connection's send buffer before its session becomes a waiting cursor, and below which it
    /// goes on: stops a stalled controller from holding more than this of the plug's memory.
    static let sendBuffer = ChannelOptions.Types.WriteBufferWaterMark(low: 16 * 1024, high: 64 * 1024)
    /// Bytes read at once.
    static let receiveBuffer = 16 * 1024
    /// Connections the kernel holds until they are accepted.
    static let backlog: Int32 = 32
}
