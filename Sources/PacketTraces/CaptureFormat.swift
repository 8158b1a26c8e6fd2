/// The bytes of a capture file (pcap) that Wireshark, tshark and tcpdump open: a header, then a record for each packet. Times are
/// in microseconds; numbers are little endian, which readers tell from the magic number.
public enum CaptureFormat {
    /// What each record begins with.
    public enum LinkType: UInt32, Sendable {
        /// An Ethernet header.
        case ethernet = 1
        /// An IPv4 or IPv6 header, told apart by its version.
        case internet = 101
    }

    /// The longest packet that a record holds, in bytes.
    public static let longestPacket: UInt32 = 65_535

    /// What a file begins with: magic number, version 2.4, two fields that are always 0, the longest packet, the link type.
    public static func header(_ link: LinkType) -> [UInt8] {
        little(0xA1B2_C3D4) + [2, 0, 4, 0] + little(0) + little(0) + little(longestPacket) + little(link.rawValue)
    }

    /// One packet.
    ///
    /// - Parameter time: nanoseconds since 1970. A record has room for times until the year 2106, and none before 1970.
    public static func record(_ packet: [UInt8], at time: Int64) -> [UInt8] {
        let (seconds, nanoseconds) = max(0, time).quotientAndRemainder(dividingBy: 1_000_000_000)
        let length = little(UInt32(clamping: packet.count))
        return little(UInt32(truncatingIfNeeded: seconds)) + little(UInt32(nanoseconds / 1000)) + length + length
            + packet
    }

    private static func little(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> ($0 * 8) & 0xFF) } }
}
