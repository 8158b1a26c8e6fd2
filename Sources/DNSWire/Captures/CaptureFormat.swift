/// The format of capture files (pcap) for Wireshark, tshark and tcpdump: a header and a record per packet. Times are in
/// microseconds. Numbers are little endian, which the magic number shows.
public enum CaptureFormat {
    /// The protocol of the first header in each packet.
    public enum LinkType: UInt32, Sendable {
        /// Ethernet.
        case ethernet = 1
        /// IPv4 or IPv6, distinguished by the version field.
        case internet = 101
    }

    /// The maximum length of a packet in bytes.
    public static let longestPacket: UInt32 = 65_535

    /// Returns the file header: magic number, version 2.4, two fields that are always 0, the maximum length, the link
    /// type.
    public static func header(_ link: LinkType) -> [UInt8] {
        little(0xA1B2_C3D4) + [2, 0, 4, 0] + little(0) + little(0) + little(longestPacket) + little(link.rawValue)
    }

    /// Returns the record of a packet.
    ///
    /// - Parameter time: nanoseconds since 1970. Times before 1970 become 0; the format ends in 2106.
    public static func record(_ packet: [UInt8], at time: Int64) -> [UInt8] {
        let (seconds, nanoseconds) = max(0, time).quotientAndRemainder(dividingBy: 1_000_000_000)
        let length = little(UInt32(clamping: packet.count))
        return little(UInt32(truncatingIfNeeded: seconds)) + little(UInt32(nanoseconds / 1000)) + length + length
            + packet
    }

    private static func little(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> ($0 * 8) & 0xFF) } }
}
