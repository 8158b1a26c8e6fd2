import CLinuxNetwork
import DNSWire
import Glibc
import Logging
import MulticastDNS
import NIOCore
import NIOPosix

/// The UDP socket of one interface and one address family on port 5353, which is reopened after errors.
///
/// A failed send may close NIO's channel (ENETUNREACH does), and opening fails while an interface is not ready. The
/// socket is then reopened after a pause of 0.1 s, which doubles up to 5 s until a datagram is sent successfully.
/// Datagrams that are sent during a pause are dropped: multicast DNS repeats important packets. All methods must be
/// called on the event loop.
final class MulticastSocket: @unchecked Sendable {
    struct Identity: Hashable {
        var interface: UInt32
        var interfaceName: String
        var family: IPFamily
        /// True for loopback. The socket then names 127.0.0.1 as the source of its IPv4 multicasts, because the kernel
        /// would choose another interface's address, or 0.0.0.0.
        var isLoopback = false
        /// True to bind to the group. The socket then receives only multicast, so that unicast packets reach the other
        /// sockets on the port.
        var isPassive = false
    }

    private enum State {
        case opening
        case open(any Channel)
        case pausing(Scheduled<Void>)
        case closed
    }

    private static let firstPause = TimeAmount.milliseconds(100)
    /// The longest pause, which is also the longest delay before a restored link is used again.
    private static let longestPause = TimeAmount.seconds(5)

    let identity: Identity
    private let eventLoop: any EventLoop
    private let logger: Logger
    private let receive: @Sendable (ReceivedDatagram) -> Void
    private var state = State.opening
    private var pause = MulticastSocket.firstPause
    private(set) var counters = SocketCounters()
    /// The reason why the socket is not open; nil while it is open, and before the first attempt has ended.
    private(set) var fault: String?

    /// Starts to open the socket immediately. If this fails, it is retried after a pause.
    init(
        _ identity: Identity, on eventLoop: any EventLoop, logger: Logger,
        receive: @escaping @Sendable (ReceivedDatagram) -> Void
    ) {
        self.identity = identity
        self.eventLoop = eventLoop
        self.receive = receive
        var logger = logger
        logger[metadataKey: "interface"] = "\(identity.interfaceName)"
        logger[metadataKey: "family"] = identity.family == .v4 ? "IPv4" : "IPv6"
        self.logger = logger
        open()
    }

    /// Sends the bytes. Refused and dropped datagrams are counted. The promise succeeds when the kernel has accepted or
    /// refused the bytes, or when they were dropped; it never fails.
    func send(_ bytes: [UInt8], to destination: OutboundDatagram.Destination, written: EventLoopPromise<Void>?) {
        eventLoop.preconditionInEventLoop()
        // If the kernel's queue is full, NIO's queue grows. Beyond its high-water mark, further datagrams are dropped
        // to bound the memory.
        guard case .open(let channel) = state, channel.isWritable else {
            counters.sendsDropped += 1
            written?.succeed()
            return
        }
        let (address, port) =
            switch destination {
            case .multicast(.v4): (IPAddress.v4(RFC6762.groupV4), RFC6762.port)
            case .multicast(.v6): (IPAddress.v6(RFC6762.groupV6), RFC6762.port)
            case .unicast(let address, let port): (address, port)
            }
        let envelope = AddressedEnvelope(
            remoteAddress: SocketAddress(address, port: port, interface: identity.interface),
            data: ByteBuffer(bytes: bytes))
        channel.writeAndFlush(envelope).whenComplete { result in
            switch result {
            case .success:
                self.counters.sent += 1
                self.pause = Self.firstPause
            case .failure(let error):
                self.counters.sendsFailed += 1
                self.logger.debug("a datagram could not be sent: \(errorText(error))")
            }
            written?.succeed()
        }
    }

    /// Leaves the group and joins it again, so that the kernel sends a membership report to the switches.
    func joinAgain() {
        eventLoop.preconditionInEventLoop()
        guard case .open(let channel) = state, let options = channel as? any SocketOptionProvider else { return }
        counters.rejoins += 1
        let joined: EventLoopFuture<Void>
        switch identity.family {
        case .v4:
            let group = in_addr(s_addr: RFC6762.groupV4.rawValue.bigEndian)
            let membership = ip_mreqn(
                imr_multiaddr: group, imr_address: in_addr(), imr_ifindex: Int32(bitPattern: identity.interface))
            joined = joinAgain(options, IPPROTO_IP, (IP_DROP_MEMBERSHIP, IP_ADD_MEMBERSHIP), membership)
        case .v6:
            var membership = ipv6_mreq()
            withUnsafeMutableBytes(of: &membership.ipv6mr_multiaddr) { $0.copyBytes(from: RFC6762.groupV6.bytes) }
            membership.ipv6mr_interface = identity.interface
            joined = joinAgain(options, IPPROTO_IPV6, (IPV6_LEAVE_GROUP, IPV6_JOIN_GROUP), membership)
        }
        joined.whenFailure { error in
            // A socket without a membership receives nothing, so it is reopened.
            self.logger.notice("cannot join the multicast group again: \(errorText(error))")
            channel.close(promise: nil)
        }
    }

    private func joinAgain<Membership: Sendable>(
        _ options: any SocketOptionProvider, _ level: Int, _ names: (leave: Int32, join: Int32),
        _ membership: Membership
    ) -> EventLoopFuture<Void> {
        let level = SocketOptionLevel(level)
        // Leaving fails if the membership is already lost.
        return options.unsafeSetSocketOption(level: level, name: names.leave, value: membership).recover { _ in }
            .flatMap { options.unsafeSetSocketOption(level: level, name: names.join, value: membership) }
    }

    func close() {
        eventLoop.preconditionInEventLoop()
        let former = state
        state = .closed
        switch former {
        case .open(let channel): channel.close(promise: nil)
        case .pausing(let task): task.cancel()
        case .opening, .closed: break
        }
    }

    private func open() {
        state = .opening
        var step: UnsafePointer<CChar>?
        let index = Int32(bitPattern: identity.interface)
        let hopLimit = Int32(RFC6762.hopLimit)
        let descriptor =
            switch identity.family {
            case .v4:
                clinuxnetwork_open_multicast4(
                    index, RFC6762.port, RFC6762.groupV4.bytes, identity.isPassive,
                    identity.isLoopback ? [127, 0, 0, 1] : [0, 0, 0, 0], hopLimit, &step)
            case .v6:
                clinuxnetwork_open_multicast6(
                    index, RFC6762.port, RFC6762.groupV6.bytes, identity.isPassive, hopLimit, &step)
            }
        guard descriptor >= 0 else {
            return pauseThenOpen("\(step.map { String(cString: $0) } ?? "socket"): \(errorText(-descriptor))")
        }
        DatagramBootstrap(group: eventLoop)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: RFC6762.packetLimit))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DatagramReader(self.received))
                }
            }
            .withBoundSocket(descriptor)
            .flatMap { channel in channel.setOption(.receivePacketInfo, value: true).map { channel } }
            .whenComplete(opened)
    }

    private func opened(_ result: Result<any Channel, any Error>) {
        switch (result, state) {
        case (.success(let channel), .opening):
            state = .open(channel)
            fault = nil
            channel.closeFuture.whenComplete { _ in self.channelClosed() }
        case (.success(let channel), _): channel.close(promise: nil)
        case (.failure(let error), .opening): pauseThenOpen(errorText(error))
        case (.failure, _): break
        }
    }

    private func channelClosed() {
        switch state {
        case .open, .opening: pauseThenOpen("the network rejected a datagram")
        case .pausing, .closed: break
        }
    }

    private func pauseThenOpen(_ reason: String) {
        fault = reason
        counters.reopenings += 1
        // Only the first failure of a series is logged as a notice; the others would repeat it.
        let level: Logger.Level = pause == Self.firstPause ? .notice : .debug
        logger.log(level: level, "multicast socket unusable, trying again: \(reason)")
        state = .pausing(
            eventLoop.scheduleTask(in: pause) { [weak self] in
                guard let self, case .pausing = self.state else { return }
                self.open()
            })
        pause = min(.nanoseconds(pause.nanoseconds * 2), Self.longestPause)
    }

    private func received(_ datagram: ReceivedDatagram) {
        // For IPv6 multicast the kernel checks only the group, not the interface on which this socket joined it.
        // Packets of other interfaces also arrive here; they are dropped, because those interfaces' sockets receive
        // them too. For IPv4 the kernel checks both. But it may deliver an IPv4 packet only to the socket of a
        // different interface (seen with Linux 6.18), so an IPv4 socket accepts packets of other interfaces. The kernel
        // delivers unicast to any of the sockets.
        guard datagram.interface == identity.interface || identity.family == .v4 || !datagram.destination.isMulticast
        else { return }
        counters.received += 1
        receive(datagram)
    }
}

/// The counters of a socket since it was created.
struct SocketCounters: Hashable {
    var received = 0
    var sent = 0
    /// The number of datagrams that the kernel refused.
    var sendsFailed = 0
    /// The number of datagrams that were dropped because the socket was not open or its queue was full.
    var sendsDropped = 0
    var reopenings = 0
    /// The number of times that the group was joined again because no other host was heard.
    var rejoins = 0

    static func += (left: inout SocketCounters, right: SocketCounters) {
        left.received += right.received
        left.sent += right.sent
        left.sendsFailed += right.sendsFailed
        left.sendsDropped += right.sendsDropped
        left.reopenings += right.reopenings
        left.rejoins += right.rejoins
    }
}
