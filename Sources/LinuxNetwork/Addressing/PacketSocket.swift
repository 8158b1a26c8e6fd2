import CLinuxNetwork
import Glibc
package import Logging
package import NIOCore
import NIOPosix

/// A packet socket (packet(7)) for whole Ethernet frames of one interface, which is reopened after errors.
///
/// The socket receives only frames that other hosts sent. While the interface is down, the kernel refuses to receive
/// and to send, and the socket is reopened after a pause of 50 ms, which doubles up to 1 s until a frame is sent
/// successfully or ``openNow()`` is called. Frames that are sent during a pause are dropped, because the protocols
/// repeat important messages. All methods must be called on the event loop.
package final class PacketSocket: @unchecked Sendable {
    /// The frames that the socket receives.
    package enum Kind: Hashable, Sendable {
        /// ARP packets.
        case arp
        /// IPv4 packets with a UDP datagram to port 68.
        case dhcpReplies
        /// The frames that the program accepts, with the multicast groups (MAC addresses) of these frames.
        case captured(CaptureProgram, groups: Set<[UInt8]>)
    }

    private enum State {
        case opening
        /// NIO owns the channel's descriptor and reads from it. Writes use a duplicate of the descriptor and bypass
        /// NIO, which would combine two frames into one call.
        case open(any Channel, writing: Int32)
        case pausing(Scheduled<Void>)
        case closed
    }

    /// The longest frame in bytes: an MTU of 1500 with a margin. Longer frames are truncated.
    private static let largestFrame = 2048
    private static let firstPause = TimeAmount.milliseconds(50)
    /// The longest pause, which is also the longest delay before a restored link is used again.
    private static let longestPause = TimeAmount.seconds(1)

    private var kind: Kind
    /// The kind with which the socket was last opened. It differs from ``kind`` if the program or the groups were
    /// replaced since then.
    private var openedKind: Kind
    private let interface: Int32
    private let eventLoop: any EventLoop
    private let logger: Logger
    private let receive: @Sendable ([UInt8]) -> Void
    private var state = State.opening
    private var pause = PacketSocket.firstPause
    /// The number of frames that were not sent, because the socket was not open or the kernel refused the frame.
    package private(set) var dropped = 0

    /// Starts to open the socket immediately.
    package init(
        _ kind: Kind, interface: Int32, on eventLoop: any EventLoop, logger: Logger,
        receive: @escaping @Sendable ([UInt8]) -> Void
    ) {
        (self.kind, openedKind) = (kind, kind)
        self.interface = interface
        self.eventLoop = eventLoop
        self.receive = receive
        self.logger = logger
        open()
    }

    /// Sends the frame, or counts it as dropped. Frames are not queued: a frame that the interface does not accept now
    /// would be outdated later.
    package func send(_ frame: [UInt8]) {
        eventLoop.preconditionInEventLoop()
        guard case .open(_, let descriptor) = state, write(descriptor, frame, frame.count) == frame.count else {
            dropped += 1
            return
        }
        pause = Self.firstPause
    }

    /// Reopens the socket immediately if it is in a pause, because the link was restored.
    package func openNow() {
        eventLoop.preconditionInEventLoop()
        guard case .pausing(let task) = state else { return }
        task.cancel()
        pause = Self.firstPause
        open()
    }

    /// Replaces the program and the groups of a socket for captured frames. Frames that wait in the socket may still be
    /// delivered.
    package func capture(_ program: CaptureProgram, groups: Set<[UInt8]>) {
        eventLoop.preconditionInEventLoop()
        guard case .captured(_, let former) = kind else { preconditionFailure("not a socket for captured frames") }
        kind = .captured(program, groups: groups)
        guard case .open(let channel, let descriptor) = state else { return }
        let code = program.withInstructions { clinuxnetwork_set_filter(descriptor, $0, $1) }
        if code < 0 {
            logger.warning("cannot replace the filter of a packet socket: \(errorText(-code))")
            // When the channel has closed, the socket is reopened with the new program.
            return channel.close(promise: nil)
        }
        change(former.subtracting(groups), join: false, descriptor)
        change(groups.subtracting(former), join: true, descriptor)
    }

    private func change(_ groups: Set<[UInt8]>, join: Bool, _ descriptor: CInt) {
        for group in groups {
            let code = clinuxnetwork_change_group(descriptor, interface, group, join)
            if code < 0, join { logger.warning("cannot receive a multicast group: \(errorText(-code))") }
        }
    }

    /// Closes the socket permanently.
    package func close() {
        eventLoop.preconditionInEventLoop()
        leave(.closed)
    }

    private func leave(_ next: State) {
        let former = state
        state = next
        switch former {
        case .open(let channel, let descriptor):
            Glibc.close(descriptor)
            channel.close(promise: nil)
        case .pausing(let task): task.cancel()
        case .opening, .closed: break
        }
    }

    private func open() {
        state = .opening
        openedKind = kind
        var step: UnsafePointer<CChar>?
        let descriptor =
            switch kind {
            case .arp: clinuxnetwork_open_packet(interface, 0x0806, false, &step)
            case .dhcpReplies: clinuxnetwork_open_packet(interface, 0x0800, true, &step)
            case .captured(let program, _):
                program.withInstructions { clinuxnetwork_open_capture(interface, $0, $1, &step) }
            }
        guard descriptor >= 0 else {
            return pauseThenOpen("\(step.map { String(cString: $0) } ?? "socket"): \(errorText(-descriptor))")
        }
        if case .captured(_, let groups) = kind { change(groups, join: true, descriptor) }
        let writing = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        NIOPipeBootstrap(group: eventLoop)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.largestFrame))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(FrameReader(self.receive))
                }
            }
            .takingOwnershipOfDescriptor(inputOutput: descriptor)
            .whenComplete { self.opened($0, writing: writing) }
    }

    private func opened(_ result: Result<any Channel, any Error>, writing: Int32) {
        switch (result, state) {
        case (.success(let channel), .opening) where writing >= 0:
            state = .open(channel, writing: writing)
            channel.closeFuture.whenComplete { _ in self.channelClosed() }
            if case .captured(let program, let groups) = kind, kind != openedKind {
                kind = openedKind
                capture(program, groups: groups)
            }
        case (.success(let channel), _):
            channel.close(promise: nil)
            if writing >= 0 { Glibc.close(writing) }
            if case .opening = state { pauseThenOpen("no file descriptor is available") }
        case (.failure(let error), _):
            if writing >= 0 { Glibc.close(writing) }
            if case .opening = state { pauseThenOpen(errorText(error)) }
        }
    }

    private func channelClosed() {
        guard case .open = state else { return }
        pauseThenOpen("the interface is down")
    }

    private func pauseThenOpen(_ reason: String) {
        logger.debug("packet socket unusable, trying again: \(reason)")
        leave(
            .pausing(
                eventLoop.scheduleTask(in: pause) { [weak self] in
                    guard let self, case .pausing = self.state else { return }
                    self.open()
                }))
        pause = min(.nanoseconds(pause.nanoseconds * 2), Self.longestPause)
    }
}

/// Delivers frames; each read returns one frame.
private final class FrameReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let receive: ([UInt8]) -> Void

    init(_ receive: @escaping ([UInt8]) -> Void) { self.receive = receive }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        receive(Array(unwrapInboundIn(data).readableBytesView))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
