import DNSWire
import NIOCore

/// A datagram with where it came from and where it was sent to.
struct ReceivedDatagram: Hashable, Sendable {
    var bytes: [UInt8]
    var source: IPAddress
    var sourcePort: UInt16
    var destination: IPAddress
    /// The interface on which it arrived; for packets from this host to its own address that is loopback.
    var interface: UInt32
}

/// Hands datagrams over with their packet info.
final class DatagramReader: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let receive: (ReceivedDatagram) -> Void

    init(_ receive: @escaping (ReceivedDatagram) -> Void) { self.receive = receive }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        // Datagrams queued before the option was set carry no packet info. Their interface is unknown: the peer repeats them.
        guard let info = envelope.metadata?.packetInfo, let destination = info.destinationAddress.ipAddress,
            let source = envelope.remoteAddress.ipAddress, let port = envelope.remoteAddress.port
        else { return }
        receive(
            ReceivedDatagram(
                bytes: Array(envelope.data.readableBytesView), source: source, sourcePort: UInt16(port),
                destination: destination, interface: UInt32(info.interfaceIndex)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Errors of single datagrams (an ICMP refusal) are no reason to stop; those that are close the channel themselves.
    }
}
