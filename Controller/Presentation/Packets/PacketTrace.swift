public import LinuxNetwork
import PacketTraces

/// Packets that were heard, as the bytes of a capture file that Wireshark opens. Each has an IP and a UDP header made from what is
/// known about it; the interface is not told.
public enum PacketTrace {
    /// What the file begins with.
    public static var header: [UInt8] { CaptureFormat.header(.internet) }

    /// What each packet adds.
    public static func record(_ packet: HeardPacket) -> [UInt8] {
        let source = TracedEndpoint(packet.source.address.bytes, packet.source.port)
        let destination = TracedEndpoint(packet.destination.bytes, 5353)
        return CaptureFormat.record(
            InternetPacket.udp(from: source, to: destination, packet.bytes), at: packet.time.nanosecondsSince1970)
    }
}
