import DNSWire
public import LinuxNetwork

/// Converts received packets to the bytes of a capture file for Wireshark. Each packet gets an IP header and a UDP
/// header from its known properties; the interface is not included.
public enum PacketTrace {
    /// The header of the file.
    public static var header: [UInt8] { CaptureFormat.header(.internet) }

    /// Returns the bytes of one packet.
    public static func record(_ packet: HeardPacket) -> [UInt8] {
        let source = TracedEndpoint(packet.source.address.bytes, packet.source.port)
        let destination = TracedEndpoint(packet.destination.bytes, 5353)
        return CaptureFormat.record(
            InternetPacket.udp(from: source, to: destination, packet.bytes), at: packet.time.nanosecondsSince1970)
    }
}
