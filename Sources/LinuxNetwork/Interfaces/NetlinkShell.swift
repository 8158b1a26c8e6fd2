import CLinuxNetwork
import NIOCore
import NIOPosix

/// Runs an ``InterfaceTable`` with an rtnetlink socket. All its work is done on the event loop.
final class NetlinkShell: @unchecked Sendable {
    /// The pause before the socket is reopened. The kernel drops messages if the socket's buffer is full (ENOBUFS), and
    /// NIO then closes the channel. A new socket and a new dump recover from this. The pause stops a flood of changes
    /// from causing a busy loop.
    private static let pauseBeforeReopening = TimeAmount.milliseconds(100)
    /// The size of the receive buffer in bytes. A dump has datagrams of up to 32 KB, and a buffer that is smaller than
    /// a datagram would truncate it.
    private static let largestDatagram = 65_536

    private let filter: InterfaceFilter
    private let eventLoop: any EventLoop
    private let continuation: AsyncThrowingStream<[LinuxInterface], any Error>.Continuation
    private var table = InterfaceTable()
    private var admitted: [LinuxInterface]?
    private var channel: (any Channel)?
    private var isStopped = false

    init(
        filter: InterfaceFilter, eventLoop: any EventLoop,
        continuation: AsyncThrowingStream<[LinuxInterface], any Error>.Continuation
    ) {
        self.filter = filter
        self.eventLoop = eventLoop
        self.continuation = continuation
    }

    func start() {
        eventLoop.preconditionInEventLoop()
        guard !isStopped else { return }
        let descriptor = clinuxnetwork_open_rtnetlink()
        guard descriptor >= 0 else { return fail(-descriptor) }
        NIOPipeBootstrap(group: eventLoop)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.largestDatagram))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Reader(shell: self))
                }
            }
            .takingOwnershipOfDescriptor(inputOutput: descriptor)
            .whenComplete { result in
                switch result {
                case .success(let channel): self.opened(channel)
                case .failure: self.reopenLater()
                }
            }
    }

    func stop() {
        eventLoop.preconditionInEventLoop()
        isStopped = true
        channel?.close(promise: nil)
        channel = nil
    }

    private func opened(_ channel: any Channel) {
        guard !isStopped else { return channel.close(promise: nil) }
        self.channel = channel
        perform(table.synchronize())
        channel.closeFuture.whenComplete { _ in
            self.channel = nil
            self.reopenLater()
        }
    }

    private func reopenLater() {
        guard !isStopped else { return }
        eventLoop.scheduleTask(in: Self.pauseBeforeReopening) { self.start() }
    }

    fileprivate func received(_ datagram: [UInt8]) { perform(table.receive(datagram)) }

    private func perform(_ actions: [InterfaceTable.Action]) {
        for action in actions {
            switch action {
            case .send(let bytes): channel?.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
            case .publish(let interfaces): publish(interfaces.filter(filter.admits))
            case .fail(let code): fail(code)
            }
        }
    }

    private func publish(_ interfaces: [LinuxInterface]) {
        guard interfaces != admitted else { return }
        admitted = interfaces
        continuation.yield(interfaces)
    }

    private func fail(_ code: Int32) {
        continuation.finish(throwing: NetworkError.noInterfaces(code: code))
        stop()
    }
}

private final class Reader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let shell: NetlinkShell

    init(shell: NetlinkShell) { self.shell = shell }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        shell.received(Array(unwrapInboundIn(data).readableBytesView))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
