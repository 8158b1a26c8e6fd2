package import DNSWire
import Glibc
package import MulticastDNS
package import NIOCore
import NIOPosix

/// A UDP port for unicast datagrams over IPv4 and IPv6, and for those of multicast groups of IPv6. All methods must be called on the event loop.
///
/// A failed send may close NIO's channel (ENETUNREACH does). The port is then opened again after ``reopenPause``.
package final class DatagramPort: @unchecked Sendable {
    /// The time after which a closed socket is opened again. It bounds the work while a network is unreachable.
    private static let reopenPause = TimeAmount.milliseconds(500)

    /// The number of the port.
    package let port: UInt16
    private let opener: Opener
    private var channels: [IPFamily: any Channel]
    private var joined: Set<JoinedGroup> = []
    private var isClosed = false
    /// The number of datagrams that were not sent, because the family has no socket or its queue is full.
    package private(set) var dropped = 0

    /// Opens a port in IPv4. Also opens the same port in IPv6, unless the kernel has no IPv6 or another program has
    /// opened the port there.
    ///
    /// - Parameters:
    ///   - port: the number of the port; 0 for a number that the kernel chooses.
    ///   - loopbackOnly: true for a port that only this host can reach.
    ///   - receive: called on the event loop with each datagram and the index of its interface.
    /// - Throws: an error of the system if the IPv4 port cannot be opened.
    package static func open(
        on eventLoop: any EventLoop, port: UInt16 = 0, loopbackOnly: Bool = false,
        receive: @escaping @Sendable (InboundDatagram) -> Void
    ) async throws -> DatagramPort {
        let opener = Opener(eventLoop: eventLoop, loopbackOnly: loopbackOnly, receive: receive)
        let v4 = try await opener.open(.v4, port: Int(port)).get()
        let number = v4.localAddress?.port ?? 0
        let v6 = try? await opener.open(.v6, port: number).get()
        var channels: [IPFamily: any Channel] = [.v4: v4]
        channels[.v6] = v6
        return DatagramPort(port: UInt16(clamping: number), opener, channels)
    }

    private init(port: UInt16, _ opener: Opener, _ channels: [IPFamily: any Channel]) {
        self.port = port
        self.opener = opener
        self.channels = channels
        for (family, channel) in channels { follow(channel, family) }
    }

    /// Sends a datagram from the port. A datagram that the kernel refuses is lost.
    ///
    /// - Parameter interface: the interface of a link-local IPv6 address.
    package func send(_ bytes: [UInt8], to peer: Peer, interface: InterfaceID) {
        guard let channel = channels[peer.address.family], channel.isWritable else {
            dropped += 1
            return
        }
        let address = SocketAddress(peer.address, port: peer.port, interface: interface)
        channel.writeAndFlush(
            AddressedEnvelope(remoteAddress: address, data: ByteBuffer(bytes: bytes)), promise: nil)
    }

    /// Receives the datagrams of these groups of IPv6 on these interfaces, and no longer those of others. A group
    /// that the kernel refuses is omitted.
    package func join(_ groups: Set<IPAddress>, on interfaces: Set<InterfaceID>) {
        let wanted = Set(
            groups.filter { $0.family == .v6 && $0.isMulticast }.flatMap { group in
                interfaces.map { JoinedGroup(group: group, interface: $0) }
            })
        change(joined.subtracting(wanted), IPV6_LEAVE_GROUP)
        change(wanted.subtracting(joined), IPV6_JOIN_GROUP)
        joined = wanted
    }

    private func change(_ groups: Set<JoinedGroup>, _ option: Int32) {
        guard let options = channels[.v6] as? any SocketOptionProvider else { return }
        for group in groups {
            // Errors of interfaces that have disappeared need no answer.
            _ = options.unsafeSetSocketOption(
                level: SocketOptionLevel(IPPROTO_IPV6), name: option, value: group.request)
        }
    }

    /// Closes the port.
    package func close() {
        isClosed = true
        for channel in channels.values { channel.close(promise: nil) }
        channels = [:]
    }

    private func follow(_ channel: any Channel, _ family: IPFamily) {
        channel.closeFuture.whenComplete { [weak self] _ in
            guard let self, !self.isClosed else { return }
            channels[family] = nil
            openAgain(family)
        }
    }

    private func openAgain(_ family: IPFamily) {
        opener.eventLoop.scheduleTask(in: Self.reopenPause) { [weak self] in
            guard let self, !self.isClosed else { return }
            opener.open(family, port: Int(port)).whenComplete { [weak self] result in
                guard case .success(let channel) = result else {
                    self?.openAgain(family)
                    return
                }
                guard let self, !self.isClosed else { return channel.close(promise: nil) }
                channels[family] = channel
                follow(channel, family)
                if family == .v6 { change(joined, IPV6_JOIN_GROUP) }
            }
        }
    }
}

/// A multicast group on an interface.
private struct JoinedGroup: Hashable {
    let group: IPAddress
    let interface: InterfaceID

    /// The value of the kernel's options.
    var request: ipv6_mreq {
        var request = ipv6_mreq()
        withUnsafeMutableBytes(of: &request.ipv6mr_multiaddr) { $0.copyBytes(from: group.bytes) }
        request.ipv6mr_interface = interface
        return request
    }
}

/// Opens the sockets of a port.
private struct Opener: Sendable {
    let eventLoop: any EventLoop
    let loopbackOnly: Bool
    let receive: @Sendable (InboundDatagram) -> Void

    func open(_ family: IPFamily, port: Int) -> EventLoopFuture<any Channel> {
        let receive = receive
        var bootstrap = DatagramBootstrap(group: eventLoop)
            .channelOption(.receivePacketInfo, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        DatagramReader { datagram in
                            receive(
                                InboundDatagram(
                                    bytes: datagram.bytes, interface: datagram.interface, source: datagram.source,
                                    sourcePort: datagram.sourcePort, wasMulticast: datagram.destination.isMulticast))
                        })
                }
            }
        switch family {
        case .v4: return bootstrap.bind(host: loopbackOnly ? "127.0.0.1" : "0.0.0.0", port: port)
        case .v6:
            bootstrap = bootstrap.channelOption(.ipv6Only, value: 1)
            return bootstrap.bind(host: loopbackOnly ? "::1" : "::", port: port)
        }
    }
}

extension ChannelOption where Self == ChannelOptions.Types.SocketOption {
    /// 1 for an IPv6 socket that receives no datagrams of IPv4.
    static var ipv6Only: Self {
        Self(
            level: NIOBSDSocket.OptionLevel(rawValue: CInt(IPPROTO_IPV6)),
            name: NIOBSDSocket.Option(rawValue: CInt(IPV6_V6ONLY)))
    }
}
