import NIOCore
public import PlugModel

/// A secured connection: sends bytes and closes. Received bytes and the end of the connection are reported to the
/// ``ConnectionOwner``.
public struct Connection: Sendable {
    /// Identifies the connection in the owner's reports.
    public let id: ConnectionID
    /// The address and port of the peer, for logs and limits.
    public let peer: String
    /// The key that the peer proved in the TLS handshake.
    public let peerKey: PublicKey
    /// False if the peer is in another network, behind a router. Always true for a connection that this host dialled.
    public let isLocal: Bool
    private let channel: any Channel
    /// The bytes that were queued in the current turn of the event loop and are not written yet.
    private let unwritten: NIOLoopBoundBox<ByteBuffer>

    /// Must be called on the channel's event loop, like all methods.
    init(id: ConnectionID, channel: any Channel, peerKey: PublicKey, isLocal: Bool) {
        self.id = id
        self.isLocal = isLocal
        self.channel = channel
        self.peerKey = peerKey
        unwritten = NIOLoopBoundBox(ByteBuffer(), eventLoop: channel.eventLoop)
        peer = channel.remoteAddress?.description ?? "unknown peer"
    }

    /// Queues bytes for sending. A failed write closes the connection; the owner receives only the report
    /// ``ConnectionOwner/closed(_:)``.
    ///
    /// The bytes of one turn of the event loop are written together. If they reach 16 KiB, they are written
    /// immediately.
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
        // The buffer is cleared before the write, because the write may report a full send buffer to the owner, which
        // may then send again.
        unwritten.value = ByteBuffer()
        channel.writeAndFlush(bytes, promise: nil)
    }

    /// Marks the peer as a paired controller. The limits for strangers no longer apply to the connection, and the
    /// peer's address gets its own allowance of connections, which strangers at other addresses cannot use up. Only for
    /// connections that a ``Listener`` accepted.
    public func markPaired() {
        // On a repeated call the handler is missing, and removing it has no effect.
        channel.pipeline.removeHandler(name: ByteAllowanceHandler.name, promise: nil)
        channel.parent?.pipeline.fireUserInboundEventTriggered(AdmissionHandler.Report.paired(id, peerKey))
    }

    /// Stops or resumes reading from the network. While reading is stopped, the peer's data waits in the kernel.
    public func setReading(_ reads: Bool) {
        channel.setOption(.autoRead, value: reads).whenFailure { _ in }
    }

    /// Closes after the queued bytes are written, at the latest after two seconds. A peer that reads more slowly loses
    /// the rest.
    public func close() {
        write()
        let limit = channel.eventLoop.scheduleTask(in: SocketLimits.farewell) { [channel] in channel.closeAtOnce() }
        channel.writeAndFlush(channel.allocator.buffer(capacity: 0)).whenComplete { [channel] _ in
            limit.cancel()
            channel.close(promise: nil)
        }
    }
}

/// The actor that receives the reports of connections. Its executor is their event loop, so a report is a plain call.
public protocol ConnectionOwner: Actor {
    /// The connection is secured.
    func opened(_ connection: Connection)
    /// The peer sent these bytes.
    func received(_ bytes: [UInt8], on id: ConnectionID)
    /// The send buffer exceeded its high water mark (false) or fell below the low one (true).
    func writable(_ isWritable: Bool, on id: ConnectionID)
    /// The connection closed.
    func closed(_ id: ConnectionID)
}

/// Forwards the events of a channel to the connection's owner.
final class OwnerHandler<Owner: ConnectionOwner>: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let id: ConnectionID
    private let owner: Owner
    private let peer: PeerVerification
    private let isLocal: Bool
    private let opened: @Sendable (isolated Owner, Connection) -> Void

    init(
        id: ConnectionID, owner: Owner, peer: PeerVerification, isLocal: Bool = true,
        opened: @escaping @Sendable (isolated Owner, Connection) -> Void = { $0.opened($1) }
    ) {
        self.isLocal = isLocal
        self.opened = opened
        self.id = id
        self.owner = owner
        self.peer = peer
    }

    func channelActive(context: ChannelHandlerContext) {
        guard let key = peer.key else {
            preconditionFailure("a channel counts as active once its peer's key is verified")
        }
        let connection = Connection(id: id, channel: context.channel, peerKey: key, isLocal: isLocal)
        owner.assumeIsolated { [opened] in opened($0, connection) }
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

    /// Closes a failed connection. The protocol resumes on the next connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

extension Channel {
    /// Closes without TLS's close_notify, which a peer could delay. Must be called on the event loop.
    func closeAtOnce() {
        guard let transport = try? pipeline.syncOperations.context(name: HandshakeHandler.tlsName) else {
            return close(promise: nil)
        }
        transport.close(promise: nil)
    }
}

enum SocketLimits {
    /// The water marks of the send buffer in bytes. Above the high one a session stops sending until the buffer falls
    /// below the low one. The high mark limits the memory that a stalled controller can occupy.
    static let sendBuffer = ChannelOptions.Types.WriteBufferWaterMark(low: 16 * 1024, high: 64 * 1024)
    /// The number of bytes that are gathered within one turn of the event loop before they are written. It is smaller
    /// than the high water mark.
    static let gathered = 16 * 1024
    /// The size of one read in bytes.
    static let receiveBuffer = 16 * 1024
    /// The time that a closing connection waits for its peer to read the last bytes. The limit keeps a peer that never
    /// reads from occupying a descriptor forever. An open connection needs no limit here, because its session ends
    /// after 45 s of silence, which is earlier than any TCP timeout.
    static let farewell = TimeAmount.seconds(2)
    /// The number of connections that the kernel queues until they are accepted.
    static let backlog: Int32 = 128
}
