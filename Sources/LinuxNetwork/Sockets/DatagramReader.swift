import DNSWire
import NIOCore

/// A datagram with its source and destination.
struct ReceivedDatagram: Hashable, Sendable {
    var bytes: [UInt8]
    var source: IPAddress
    var sourcePort: UInt16
    var destination: IPAddress
    /// The index of the interface on which it arrived. A packet of this host to its own address arrives on loopback.
    var interface: UInt32
}

/// Delivers datagrams with their packet info.
final class DatagramReader: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let receive: (ReceivedDatagram) -> Void

    init(_ receive: @escaping (ReceivedDatagram) -> Void) { self.receive = receive }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        // Datagrams that the kernel queued before the socket requested packet info have none, so their interface is
        // unknown. They are dropped, and the peer repeats them.
        guard let info = envelope.metadata?.packetInfo, let destination = info.destinationAddress.ipAddress,
            let source = envelope.remoteAddress.ipAddress, let port = envelope.remoteAddress.port
        else { return }
        receive(
            ReceivedDatagram(
                bytes: Array(envelope.data.readableBytesView), source: source, sourcePort: UInt16(port),
                destination: destination, interface: UInt32(info.interfaceIndex)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An error of a single datagram (such as an ICMP refusal) must not close the channel. After a serious error NIO
        // closes the channel.
    }
}
