public import DNSWire
public import LinuxClocks
public import Logging
public import MulticastDNS
public import NIOCore
public import NIOPosix

/// A multicast DNS packet as it arrived.
public struct HeardPacket: Hashable, Sendable {
    /// When this process took it from the kernel.
    public var time: WallTime
    public var interface: InterfaceID
    public var source: Peer
    public var destination: IPAddress
    public var bytes: [UInt8]

    public init(time: WallTime, interface: InterfaceID, source: Peer, destination: IPAddress, bytes: [UInt8]) {
        self.time = time
        self.interface = interface
        self.source = source
        self.destination = destination
        self.bytes = bytes
    }
}

/// Hears what is said by multicast on port 5353, by other hosts and by the programs of this one, and says nothing itself.
///
/// What goes to one host alone (unicast answers) is not heard, and not taken from the responder it is meant for. It works on
/// the interfaces that come and go until ``stop()``.
public actor PacketListener {
    /// Where it listens.
    public struct Place: Hashable, Sendable {
        public var interface: InterfaceID
        public var family: IPFamily

        public init(interface: InterfaceID, family: IPFamily) {
            self.interface = interface
            self.family = family
        }
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }
    /// In the order of their arrival; one reader. What a slow one has not taken is dropped beyond ``limit`` packets, and counted.
    public nonisolated let packets: AsyncStream<HeardPacket>
    public private(set) var dropped = 0

    /// At 9000 bytes each, the most that a reader who sleeps lets the process grow by, is 9 MB.
    public static let limit = 1000

    private let eventLoop: any EventLoop
    private let logger: Logger
    private let continuation: AsyncStream<HeardPacket>.Continuation
    private var sockets: [Place: MulticastSocket] = [:]
    private var following: Task<Void, Never>?
    private var isStopped = false

    /// - Parameter interfaces: where to listen; loopback only when it is named.
    public init(
        interfaces: InterfaceFilter = .multicastCapable,
        on eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next(), logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.logger = logger
        (packets, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.limit))
        eventLoop.execute { self.assumeIsolated { $0.follow(interfaces) } }
    }

    /// Why nothing is heard at places where something should be: the socket cannot be opened, for this reason.
    public var faults: [Place: String] { sockets.compactMapValues(\.fault) }
    /// Where it listens, or tries to.
    public var places: Set<Place> { Set(sockets.keys) }

    /// Ends the sequence.
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
