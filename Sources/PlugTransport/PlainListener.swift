import LinuxNetwork
public import NIOCore
import NIOPosix
public import PlugModel

/// Accepts connections without TLS, for a protocol that secures its messages by itself. Strangers meet the same ``AdmissionLimits`` as at a
/// ``Listener``.
public struct PlainListener: Sendable {
    public let port: UInt16
    private let channel: any Channel

    /// - Parameters:
    ///   - limits: the time for a handshake is not used, since there is none.
    ///   - owner: hears of connections; its executor is `eventLoop`.
    /// - Throws: ``ListenError`` naming the address, the reason and what to try.
    public static func start<Owner: PlainConnectionOwner>(
        on eventLoop: any EventLoop, loopbackOnly: Bool, port: UInt16 = 0, limits: AdmissionLimits, owner: Owner
    ) async throws(ListenError) -> PlainListener {
        let bootstrap = ServerBootstrap.admitting(on: eventLoop, limits, AddressMemory()) { channel, id in
            try channel.pipeline.syncOperations.addHandler(PlainOwnerHandler(id: id, owner: owner))
        }
        let channel = try await bootstrap.listen(loopbackOnly: loopbackOnly, port: port)
        return PlainListener(port: UInt16(channel.localAddress?.port ?? 0), channel: channel)
    }

    /// Stops accepting; connections that are open stay.
    public func stop() async { try? await channel.close() }
}

/// A connection of a ``PlainListener``. On its event loop, as everything here.
public struct PlainConnection: Sendable {
    public let id: ConnectionID
    /// Address and port of the other side.
    public let peer: String
    private let channel: any Channel
    /// Bytes that the kernel has not taken.
    private let unwritten: NIOLoopBoundBox<Int>
    private let drained: @Sendable () -> Void

    init(id: ConnectionID, channel: any Channel, drained: @escaping @Sendable () -> Void) {
        self.id = id
        self.channel = channel
        self.drained = drained
        peer = channel.remoteAddress?.description ?? "unknown peer"
        unwritten = NIOLoopBoundBox(0, eventLoop: channel.eventLoop)
    }

    /// Queues the bytes. The owner hears when the kernel has taken all that was sent.
    public func send(_ bytes: [UInt8]) {
        unwritten.value += bytes.count
        channel.writeAndFlush(ByteBuffer(bytes: bytes)).whenSuccess { [unwritten, drained] in
            unwritten.value -= bytes.count
            if unwritten.value == 0 { drained() }
        }
    }

    /// The other side proved to be one that is known: see ``Connection/markPaired()``.
    public func markPaired() {
        channel.parent?.pipeline.fireUserInboundEventTriggered(AdmissionHandler.Report.paired(id, nil))
    }

    /// Closes once the bytes queued so far are written, or after two seconds.
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

/// The actor that connections report to. Its executor is their event loop, so that a report is a plain call.
public protocol PlainConnectionOwner: Actor {
    func opened(_ connection: PlainConnection)
    func received(_ bytes: [UInt8], on id: ConnectionID)
    /// The kernel has taken all that was sent.
    func drained(_ id: ConnectionID)
    func closed(_ id: ConnectionID)
}

private final class PlainOwnerHandler<Owner: PlainConnectionOwner>: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let id: ConnectionID
    private let owner: Owner

    init(id: ConnectionID, owner: Owner) {
        self.id = id
        self.owner = owner
    }

    func channelActive(context: ChannelHandlerContext) {
        // There is none that could take time.
        context.channel.parent?.pipeline.fireUserInboundEventTriggered(AdmissionHandler.Report.handshakeFinished(id))
        let connection = PlainConnection(id: id, channel: context.channel) { [id, owner] in
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
