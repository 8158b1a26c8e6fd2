import DNSWire
import LinuxSystem
import NIOCore
import NIOPosix
public import PortMapping
import ProtocolCore

/// Keeps a TCP port of this host mapped at the router of its IPv4 network, or open in the firewall of its IPv6 router (a
/// pinhole): connects a ``PortMapper`` to sockets, to the time and to the default route. All methods must be called on the
/// event loop.
public final class MappedPort: @unchecked Sendable {
    /// The state of the mapping.
    public enum State: Hashable, Sendable {
        /// No answer has arrived yet.
        case waiting
        case mapped(PortMapping)
        case failed(PortMappingFailure)

        /// The mapping, if hosts on the internet can use it.
        var publicMapping: PortMapping? {
            if case .mapped(let mapping) = self, mapping.isPublic { mapping } else { nil }
        }
    }

    /// The state of the mapping.
    public private(set) var state = State.waiting

    /// The pause between two reads of the default route, which can change without a change of an address.
    private static let pause = TimeAmount.seconds(10)

    private let family: IPFamily
    private let eventLoop: any EventLoop
    private let interfaces: InterfaceFilter
    private let changed: @Sendable (State) -> Void
    private var machine: PortMapper
    private var gateway: Gateway?
    private var hasLooked = false
    private var socket: RouterSocket?
    private var exchange: RouterExchange?
    private var search: EventLoopFuture<any Channel>?
    private var announcements: EventLoopFuture<any Channel>?
    private var list: [LinuxInterface] = []
    private var following: Task<Void, Never>?
    private var repeated: RepeatedTask?
    private let actions = ActionQueue<PortMapper.Action>()
    private var timer = DeadlineTimer()
    private var stopPromise: EventLoopPromise<Void>?

    /// Creates a mapping that does nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - interfaces: the interfaces whose router may be used.
    ///   - changed: called on the event loop with each new state.
    init(
        _ port: UInt16, over family: IPFamily, interfaces: InterfaceFilter, on eventLoop: any EventLoop,
        changed: @escaping @Sendable (State) -> Void
    ) {
        self.family = family
        self.eventLoop = eventLoop
        self.interfaces = interfaces
        self.changed = changed
        var random = SystemRandomNumberGenerator()
        machine = PortMapper(port: port, random: &random)
    }

    /// Requests the mapping.
    func start() {
        var bootstrap = DatagramBootstrap(group: eventLoop).channelOption(.socketOption(.so_reuseaddr), value: 1)
        if family == .v6 { bootstrap = bootstrap.channelOption(.ipv6Only, value: 1) }
        announcements =
            bootstrap
            .channelInitializer { [weak self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DatagramHandler({ self?.announced($0, by: $1) }))
                }
            }
            .bind(host: family == .v4 ? "0.0.0.0" : "::", port: Int(PortMapper.hostPort))
        let (filter, eventLoop) = (interfaces, eventLoop)
        following = Task {
            do {
                for try await list in InterfaceMonitor.interfaces(filter, on: eventLoop) {
                    eventLoop.execute { self.update(list) }
                }
            } catch {
                // Discovery reports this error. Without a list, no router is known.
            }
        }
        repeated = eventLoop.scheduleRepeatedTask(initialDelay: Self.pause, delay: Self.pause) { [weak self] _ in
            self?.look()
        }
    }

    /// Removes the mapping. The future succeeds when the router has answered, or after two seconds.
    func stop() -> EventLoopFuture<Void> {
        if let stopPromise { return stopPromise.futureResult }
        let promise = eventLoop.makePromise(of: Void.self)
        stopPromise = promise
        following?.cancel()
        repeated?.cancel()
        announcements?.whenSuccess { $0.close(promise: nil) }
        handle(.stop)
        return promise.futureResult
    }

    private func update(_ list: [LinuxInterface]) {
        self.list = list
        look()
    }

    /// Reads the default route.
    private func look() {
        guard stopPromise == nil else { return }
        let current =
            switch family {
            case .v4: DefaultRouters.gateway(procFile("/proc/net/route") ?? "", of: list)
            case .v6:
                DefaultRouters.gateway6(
                    procFile("/proc/net/ipv6_route") ?? "", of: list, keeping: gateway?.host)
            }
        guard current != gateway || !hasLooked else { return }
        hasLooked = true
        gateway = current
        openSocket()
        handle(.gateway(current))
    }

    private func openSocket() {
        socket?.close()
        exchange?.close()
        search?.whenSuccess { $0.close(promise: nil) }
        socket = gateway.map { gateway in
            RouterSocket(gateway, on: eventLoop) { [weak self] event in self?.handle(event) }
        }
    }

    /// Sends a search by multicast. Only the answers of the router count.
    private func search(_ bytes: [UInt8]) {
        guard let gateway else { return }
        search?.whenSuccess { $0.close(promise: nil) }
        let group = SocketAddress(PortMapper.searchAddress, port: PortMapper.searchPort, interface: 0)
        let bound = DatagramBootstrap(group: eventLoop)
            .channelInitializer { [weak self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        DatagramHandler({ bytes, address in
                            guard address.ipAddress as IPAddress? == gateway.router else { return }
                            self?.handle(.found(bytes))
                        }))
                }
            }
            .bind(to: SocketAddress(gateway.host, port: 0, interface: 0))
        bound.whenSuccess { channel in
            channel.writeAndFlush(
                AddressedEnvelope(remoteAddress: group, data: ByteBuffer(bytes: bytes)), promise: nil)
        }
        search = bound
    }

    private func exchange(_ bytes: [UInt8], port: UInt16) {
        exchange?.close()
        exchange = gateway.map { gateway in
            RouterExchange(bytes, to: SocketAddress(gateway.router, port: port, interface: 0), on: eventLoop) {
                [weak self] event in self?.handle(event)
            }
        }
    }

    private func announced(_ bytes: [UInt8], by address: SocketAddress) {
        guard let router = gateway?.router, address.ipAddress as IPAddress? == router else { return }
        handle(.received(bytes))
    }

    private func handle(_ event: PortMapper.Event) {
        actions.perform(machine.handle(event, now: BootClock.now), by: perform)
        guard !actions.isPerforming else { return }
        timer.follow(machine.nextDeadline, now: BootClock.now, on: eventLoop) { [weak self] in
            self?.handle(.deadlineReached)
        }
    }

    private func perform(_ action: PortMapper.Action) {
        switch action {
        case .send(let bytes): socket?.send(bytes)
        case .search(let bytes): search(bytes)
        case .exchange(let bytes, let port): exchange(bytes, port: port)
        case .mapped(let mapping): change(.mapped(mapping))
        case .failed(let failure):
            // The address of the socket may not have been usable yet.
            openSocket()
            change(.failed(failure))
        case .stopped:
            timer.stop()
            gateway = nil
            openSocket()
            stopPromise?.succeed()
        }
    }

    private func change(_ state: State) {
        self.state = state
        changed(state)
    }
}

/// A UDP socket that is connected to a router. Its source is the address that the requests contain.
private final class RouterSocket: Sendable {
    private let channel: EventLoopFuture<any Channel>

    init(_ gateway: Gateway, on eventLoop: any EventLoop, report: @escaping @Sendable (PortMapper.Event) -> Void) {
        let router = SocketAddress(gateway.router, port: PortMapper.routerPort, interface: gateway.interface)
        channel = DatagramBootstrap(group: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        DatagramHandler({ bytes, _ in report(.received(bytes)) }, fail: { report(.refused) }))
                }
            }
            .bind(to: SocketAddress(gateway.host, port: 0, interface: 0))
            .flatMap { channel in channel.connect(to: router).map { channel } }
    }

    func send(_ bytes: [UInt8]) {
        channel.whenSuccess { $0.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }
    }

    func close() { channel.whenSuccess { $0.close(promise: nil) } }
}

/// One request over a new TCP connection to a router, whose end is the end of the response.
private final class RouterExchange: Sendable {
    private let channel: EventLoopFuture<any Channel>

    init(
        _ request: [UInt8], to router: SocketAddress, on eventLoop: any EventLoop,
        report: @escaping @Sendable (PortMapper.Event) -> Void
    ) {
        channel = ClientBootstrap(group: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ResponseHandler(report))
                }
            }
            .connect(to: router)
        channel.whenComplete { result in
            switch result {
            case .success(let channel): channel.writeAndFlush(ByteBuffer(bytes: request), promise: nil)
            case .failure: eventLoop.execute { report(.refused) }
            }
        }
    }

    func close() { channel.whenSuccess { $0.close(promise: nil) } }
}

/// Collects all bytes of a connection. A connection with too many bytes is closed.
private final class ResponseHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let report: (PortMapper.Event) -> Void
    private var bytes: [UInt8] = []

    init(_ report: @escaping (PortMapper.Event) -> Void) { self.report = report }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes += unwrapInboundIn(data).readableBytesView
        if bytes.count > PortMapper.exchangeLimit { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) { report(.exchanged(bytes)) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Delivers the datagrams of a socket with their sender, and the errors, such as an unreachable port (ICMP). An error does
/// not close the socket.
private final class DatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let receive: ([UInt8], SocketAddress) -> Void

    private let fail: () -> Void

    init(_ receive: @escaping ([UInt8], SocketAddress) -> Void, fail: @escaping () -> Void = {}) {
        self.receive = receive
        self.fail = fail
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let datagram = unwrapInboundIn(data)
        receive(Array(datagram.data.readableBytesView), datagram.remoteAddress)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail() }
}
