import NIOCore
public import PlugProtocol

/// One connection as its owner sees it: bytes out and an end. Everything that comes in reaches the ``ConnectionOwner``.
public struct Connection: Sendable {
    public let id: ConnectionID
    /// Address and port of the other side, for logs and limits.
    public let peer: String
    /// The key that the other side proved to have. Nil on a connection without TLS.
    public let peerKey: PublicKey?
    private let channel: any Channel

    init(id: ConnectionID, channel: any Channel, peerKey: PublicKey? = nil) {
        self.id = id
        self.channel = channel
        self.peerKey = peerKey
        peer = channel.remoteAddress?.description ?? "unknown peer"
    }

    /// Queues the bytes. A failed write closes the connection, which the owner hears of; no other report is made.
    public func send(_ bytes: [UInt8]) {
        channel.writeAndFlush(channel.allocator.buffer(bytes: bytes), promise: nil)
    }

    /// Says that the other side is a paired controller: the connection may stay, and there will be room for others from its
    /// address whatever strangers do. For connections that a ``Listener`` accepted.
    public func markPaired() {
        channel.parent?.pipeline.fireUserInboundEventTriggered(AdmissionHandler.Report.paired(id))
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
final class OwnerHandler<Owner: ConnectionOwner>: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let id: ConnectionID
    private let owner: Owner
    private let verification: PeerVerification?

    init(id: ConnectionID, owner: Owner, verification: PeerVerification? = nil) {
        self.id = id
        self.owner = owner
        self.verification = verification
    }

    func channelActive(context: ChannelHandlerContext) {
        let connection = Connection(id: id, channel: context.channel, peerKey: verification?.key)
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

enum SocketLimits {
    /// Bytes that may wait in a connection's send buffer before its session becomes a waiting cursor, and below which it
    /// goes on: stops a stalled controller from holding more than this of the plug's memory.
    static let sendBuffer = ChannelOptions.Types.WriteBufferWaterMark(low: 16 * 1024, high: 64 * 1024)
    /// Bytes read at once.
    static let receiveBuffer = 16 * 1024
    /// Connections the kernel holds until they are accepted.
    static let backlog: Int32 = 128
}
