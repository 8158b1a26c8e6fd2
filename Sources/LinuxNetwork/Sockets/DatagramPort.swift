import DNSWire
import Glibc
package import MulticastDNS
package import NIOCore
import NIOPosix

/// A UDP port for unicast datagrams over IPv4 and IPv6. All methods must be called on the event loop.
package final class DatagramPort: @unchecked Sendable {
    /// The number of the port, chosen by the kernel.
    package let port: UInt16
    private let channels: [IPFamily: any Channel]
    /// The number of datagrams that were not sent, because the family has no socket or its queue is full.
    package private(set) var dropped = 0

    /// Opens a port that is free in IPv4. Also opens the same port in IPv6, unless the kernel has no IPv6 or another
    /// program has opened the port there.
    ///
    /// - Parameter receive: called on the event loop with each datagram and the index of its interface.
    /// - Throws: an error of the system if the IPv4 port cannot be opened.
    package static func open(
        on eventLoop: any EventLoop, receive: @escaping @Sendable (InboundDatagram) -> Void
    ) async throws -> DatagramPort {
        let v4 = try await bind("0.0.0.0", port: 0, on: eventLoop, receive)
        let port = v4.localAddress?.port ?? 0
        let v6 = try? await bind("::", port: port, on: eventLoop, receive)
        var channels: [IPFamily: any Channel] = [.v4: v4]
        channels[.v6] = v6
        return DatagramPort(port: UInt16(clamping: port), channels)
    }

    private init(port: UInt16, _ channels: [IPFamily: any Channel]) {
        self.port = port
        self.channels = channels
    }

    private static func bind(
        _ host: String, port: Int, on eventLoop: any EventLoop, _ receive: @escaping @Sendable (InboundDatagram) -> Void
    ) async throws -> any Channel {
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
        if host == "::" { bootstrap = bootstrap.channelOption(.ipv6Only, value: 1) }
        return try await bootstrap.bind(host: host, port: port).get()
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

    /// Closes the port.
    package func close() {
        for channel in channels.values { channel.close(promise: nil) }
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
