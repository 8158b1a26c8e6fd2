public import DNSWire
public import LinuxSystem
public import Logging
public import MulticastDNS
public import NIOCore
public import NIOPosix

/// A received multicast DNS packet.
public struct HeardPacket: Hashable, Sendable {
    /// The time at which this process read the packet from the kernel.
    public var time: WallTime
    /// The interface on which the packet arrived.
    public var interface: InterfaceID
    /// The address and the port of the sender.
    public var source: Peer
    /// The address to which the packet was sent.
    public var destination: IPAddress
    /// The payload of the datagram.
    public var bytes: [UInt8]

    /// Creates a packet.
    public init(time: WallTime, interface: InterfaceID, source: Peer, destination: IPAddress, bytes: [UInt8]) {
        self.time = time
        self.interface = interface
        self.source = source
        self.destination = destination
        self.bytes = bytes
    }
}

/// Receives multicast DNS packets of other hosts and of programs on this host, and sends nothing.
///
/// The listener receives no unicast packets, so that they reach the responder on this host. It uses interfaces as they
/// appear and disappear, until ``stop()``.
public actor PacketListener {
    /// An interface and an address family on which the listener listens.
    public struct Place: Hashable, Sendable {
        /// The index of the interface.
        public var interface: InterfaceID
        /// The address family.
        public var family: IPFamily

        /// Creates a place.
        public init(interface: InterfaceID, family: IPFamily) {
            self.interface = interface
            self.family = family
        }
    }

    /// The event loop on which the actor runs.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }
    /// The packets in the order of their arrival, for one reader. While a slow reader has ``limit`` unread packets, new
    /// ones are dropped and counted.
    public nonisolated let packets: AsyncStream<HeardPacket>
    /// The number of packets that were dropped because the reader was too slow.
    public private(set) var dropped = 0

    /// The maximum number of buffered packets. At 9000 bytes each, they occupy at most 9 MB.
    public static let limit = 1000

    private let eventLoop: any EventLoop
    private let logger: Logger
    private let continuation: AsyncStream<HeardPacket>.Continuation
    private var sockets: [Place: MulticastSocket] = [:]
    private var following: Task<Void, Never>?
    private var isStopped = false

    /// Creates a listener, which starts immediately.
    ///
    /// - Parameters:
    ///   - interfaces: the interfaces to listen on; loopback is only used if it is named.
    ///   - eventLoop: the event loop on which the actor runs.
    ///   - logger: the logger for interfaces and sockets.
    public init(
        interfaces: InterfaceFilter = .multicastCapable,
        on eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next(), logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.logger = logger
        (packets, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.limit))
        eventLoop.execute { self.assumeIsolated { $0.follow(interfaces) } }
    }

    /// The places where the socket cannot be opened, with the reason.
    public var faults: [Place: String] { sockets.compactMapValues(\.fault) }
    /// The places that need a socket, including those whose socket cannot be opened yet.
    public var places: Set<Place> { Set(sockets.keys) }

    /// Closes all sockets and ends the sequence of packets.
    public func stop() {
        isStopped = true
        following?.cancel()
        for socket in sockets.values { socket.close() }
        sockets = [:]
        continuation.finish()
    }

    private func follow(_ filter: InterfaceFilter) {
        guard !isStopped else { return }
        following = Task {
            do {
                for try await list in InterfaceMonitor.interfaces(filter, on: eventLoop) { update(list) }
            } catch {
                logger.error("\(error)")
                stop()
            }
        }
    }

    private func update(_ list: [LinuxInterface]) {
        guard !isStopped else { return }
        let usable = list.compactMap(NetworkInterface.init)
        let places = Set(
            usable.flatMap { network in network.families.map { Place(interface: network.id, family: $0) } })
        for gone in Set(sockets.keys).subtracting(places) { sockets.removeValue(forKey: gone)?.close() }
        for network in usable {
            for place in places where place.interface == network.id && sockets[place] == nil {
                sockets[place] = open(place, network)
            }
        }
    }

    private func open(_ place: Place, _ network: NetworkInterface) -> MulticastSocket {
        let identity = MulticastSocket.Identity(
            interface: place.interface, interfaceName: network.name, family: place.family,
            isLoopback: network.addresses.contains { $0.address.isLoopback }, isPassive: true)
        return MulticastSocket(identity, on: eventLoop, logger: logger) { datagram in
            self.assumeIsolated { $0.received(datagram) }
        }
    }

    private func received(_ datagram: ReceivedDatagram) {
        let packet = HeardPacket(
            time: .now, interface: datagram.interface,
            source: Peer(address: datagram.source, port: datagram.sourcePort),
            destination: datagram.destination, bytes: datagram.bytes)
        switch continuation.yield(packet) {
        case .dropped: dropped += 1
        case .enqueued, .terminated: break
        @unknown default: break
        }
    }
}
