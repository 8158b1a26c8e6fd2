import NIOCore
public import PlugModel

/// One connection as its owner sees it: bytes out and an end. Everything that comes in reaches the ``ConnectionOwner``.
public struct Connection: Sendable {
    public let id: ConnectionID
    /// Address and port of the other side, for logs and limits.
    public let peer: String
    /// The key that the other side proved to have.
    public let peerKey: PublicKey
    private let channel: any Channel
    /// What was sent since the event loop looked at the network last.
    private let unwritten: NIOLoopBoundBox<ByteBuffer>

    /// On the channel's event loop, as everything here.
    init(id: ConnectionID, channel: any Channel, peerKey: PublicKey) {
        self.id = id
        self.channel = channel
        self.peerKey = peerKey
        unwritten = NIOLoopBoundBox(ByteBuffer(), eventLoop: channel.eventLoop)
        peer = channel.remoteAddress?.description ?? "unknown peer"
    }

    /// Queues the bytes. A failed write closes the connection, which the owner hears of; no other report is made.
    ///
    /// What is sent before the event loop looks at the network again goes out in one call of the kernel.
    public func send(_ bytes: [UInt8]) {
        let isFirst = unwritten.value.readableBytes == 0
        unwritten.value.writeBytes(bytes)
        if unwritten.value.readableBytes >= SocketLimits.gathered {
            write()
        } else if isFirst {
            channel.eventLoop.execute { write() }
        }
    }

    private func write() {
        let bytes = unwritten.value
        guard bytes.readableBytes > 0 else { return }
        // Before the write, which may tell the owner that the send buffer is full and so lead to the next send.
        unwritten.value = ByteBuffer()
        channel.writeAndFlush(bytes, promise: nil)
    }

    /// Says that the other side is a paired controller: the connection may stay and send what it likes, and there will be room
    /// for others from its address whatever strangers do. For connections that a ``Listener`` accepted.
    public func markPaired() {
        // It is gone already where this was said before.
        channel.pipeline.removeHandler(name: ByteAllowanceHandler.name, promise: nil)
        channel.parent?.pipeline.fireUserInboundEventTriggered(AdmissionHandler.Report.paired(id, peerKey))
    }

    /// Stops taking bytes from the network, so that the peer waits, or goes on.
    public func setReading(_ reads: Bool) {
        channel.setOption(.autoRead, value: reads).whenFailure { _ in }
    }

    /// Closes once the bytes queued so far are written, or after two seconds, when a peer that does not take them loses them.
    public func close() {
        write()
        let limit = channel.eventLoop.scheduleTask(in: SocketLimits.farewell) { [channel] in channel.closeAtOnce() }
        channel.writeAndFlush(channel.allocator.buffer(capacity: 0)).whenComplete { [channel] _ in
            limit.cancel()
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
final class OwnerHandler<Owner: ConnectionOwner>: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let id: ConnectionID
    private let owner: Owner
    private let peer: PeerVerification

    init(id: ConnectionID, owner: Owner, peer: PeerVerification) {
        self.id = id
        self.owner = owner
        self.peer = peer
    }

    func channelActive(context: ChannelHandlerContext) {
        guard let key = peer.key else {
            preconditionFailure("a channel counts as active once its peer's key is verified")
        }
        let connection = Connection(id: id, channel: context.channel, peerKey: key)
        owner.assumeIsolated { $0.opened(connection) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(unwrapInboundIn(data).readableBytesView)
        owner.assumeIsolated { [id] in $0.received(bytes, on: id) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        owner.assumeIsolated { [id] in $0.writable(isWritable, on: id) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        owner.assumeIsolated { [id] in $0.closed(id) }
    }

    /// A connection that failed is closed: the protocol resumes on the next one, so there is nothing to save here.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

extension Channel {
    /// Without the goodbye of TLS, for which a peer could make this side wait. On the event loop.
    func closeAtOnce() {
        guard let transport = try? pipeline.syncOperations.context(name: HandshakeHandler.tlsName) else {
            return close(promise: nil)
        }
        transport.close(promise: nil)
    }
}

enum SocketLimits {
    /// Bytes that may wait in a connection's send buffer before its session becomes a waiting cursor, and below which it
    /// goes on: stops a stalled controller from holding more than this of the plug's memory.
    static let sendBuffer = ChannelOptions.Types.WriteBufferWaterMark(low: 16 * 1024, high: 64 * 1024)
    /// Bytes that wait for others of the same turn of the event loop: not so many that the send buffer's marks come late.
    static let gathered = 16 * 1024
    /// Bytes read at once.
    static let receiveBuffer = 16 * 1024
    /// How long a connection that is being closed waits for its peer to take what was said last. Stops one that never reads
    /// from holding a descriptor for ever. Until the close that is the session's business: whoever hears nothing for 45 s ends
    /// it, which comes before any limit of TCP's own.
    static let farewell = TimeAmount.seconds(2)
    /// Connections the kernel holds until they are accepted.
    static let backlog: Int32 = 128
}
