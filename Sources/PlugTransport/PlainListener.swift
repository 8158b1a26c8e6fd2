import LinuxNetwork
public import NIOCore
import NIOPosix
public import PlugModel

/// Accepts connections without TLS, for a protocol with its own encryption. As in a ``Listener``, ``AdmissionLimits``
/// limit the connections of strangers.
public struct PlainListener: Sendable {
    /// The TCP port.
    public let port: UInt16
    private let channel: any Channel

    /// Binds and starts to accept.
    ///
    /// - Parameters:
    ///   - limits: the limits for strangers. The handshake time has no effect, because plain connections have no
    ///     handshake. The limit of bytes is not enforced.
    ///   - isLocal: returns false for the address of a peer in another network.
    ///   - owner: receives the reports. Its executor must be `eventLoop`.
    /// - Throws: ``ListenError`` with the address, the reason and a hint.
    public static func start<Owner: PlainConnectionOwner>(
        on eventLoop: any EventLoop, loopbackOnly: Bool, port: UInt16 = 0, limits: AdmissionLimits,
        isLocal: @escaping @Sendable (SocketAddress) -> Bool = { _ in true }, owner: Owner
    ) async throws(ListenError) -> PlainListener {
        let bootstrap = ServerBootstrap.admitting(on: eventLoop, limits, KnownAddressStore(), isLocal) { channel, id in
            try channel.pipeline.syncOperations.addHandler(
                PlainOwnerHandler(id: id, isLocal: channel.remoteAddress.map(isLocal) ?? false, owner: owner))
        }
        let channel = try await bootstrap.listen(loopbackOnly: loopbackOnly, port: port)
        return PlainListener(port: UInt16(channel.localAddress?.port ?? 0), channel: channel)
    }

    /// Stops accepting. Open connections stay open.
    public func stop() async { try? await channel.close() }
}

/// A connection of a ``PlainListener``. All its methods must be called on its event loop.
public struct PlainConnection: Sendable {
    /// Identifies the connection in the owner's reports.
    public let id: ConnectionID
    /// The address and port of the peer.
    public let peer: String
    /// False if the peer is in another network.
    public let isLocal: Bool
    private let channel: any Channel
    /// The number of bytes that the kernel has not accepted yet.
    private let unwritten: NIOLoopBoundBox<Int>
    private let drained: @Sendable () -> Void

    init(id: ConnectionID, channel: any Channel, isLocal: Bool, drained: @escaping @Sendable () -> Void) {
        self.id = id
        self.channel = channel
        self.isLocal = isLocal
        self.drained = drained
        peer = channel.remoteAddress?.description ?? "unknown peer"
        unwritten = NIOLoopBoundBox(0, eventLoop: channel.eventLoop)
    }

    /// Queues bytes for sending. The owner is informed when the kernel has accepted all bytes.
    public func send(_ bytes: [UInt8]) {
        unwritten.value += bytes.count
        channel.writeAndFlush(ByteBuffer(bytes: bytes)).whenSuccess { [unwritten, drained] in
            unwritten.value -= bytes.count
            if unwritten.value == 0 { drained() }
        }
    }

    /// Marks the peer as a paired controller. See ``Connection/markPaired()``.
    public func markPaired() {
        channel.parent?.pipeline.fireUserInboundEventTriggered(AdmissionHandler.Report.paired(id, nil))
    }

    /// Closes after the queued bytes are written, at the latest after two seconds.
    public func close() {
        let limit = channel.eventLoop.scheduleTask(in: SocketLimits.farewell) { [channel] in
            channel.close(promise: nil)
        }
        channel.writeAndFlush(channel.allocator.buffer(capacity: 0)).whenComplete { [channel] _ in
            limit.cancel()
            channel.close(promise: nil)
        }
    }
}

/// The actor that receives the reports of connections. Its executor is their event loop, so a report is a plain call.
public protocol PlainConnectionOwner: Actor {
    /// The connection was accepted.
    func opened(_ connection: PlainConnection)
    /// The peer sent these bytes.
    func received(_ bytes: [UInt8], on id: ConnectionID)
    /// The kernel has accepted all sent bytes.
    func drained(_ id: ConnectionID)
    /// The connection closed.
    func closed(_ id: ConnectionID)
}

private final class PlainOwnerHandler<Owner: PlainConnectionOwner>: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let id: ConnectionID
    private let isLocal: Bool
    private let owner: Owner

    init(id: ConnectionID, isLocal: Bool, owner: Owner) {
        self.id = id
        self.isLocal = isLocal
        self.owner = owner
    }

    func channelActive(context: ChannelHandlerContext) {
        // Plain connections have no handshake, so it counts as finished.
        context.channel.parent?.pipeline.fireUserInboundEventTriggered(AdmissionHandler.Report.handshakeFinished(id))
        let connection = PlainConnection(id: id, channel: context.channel, isLocal: isLocal) { [id, owner] in
            owner.assumeIsolated { $0.drained(id) }
        }
        owner.assumeIsolated { $0.opened(connection) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(unwrapInboundIn(data).readableBytesView)
        owner.assumeIsolated { [id] in $0.received(bytes, on: id) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        owner.assumeIsolated { [id] in $0.closed(id) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
