public import ProtocolCore

/// Datagrams as a capture file (pcap, link type Ethernet) that Wireshark opens. It only makes the bytes.
public struct PacketCapture: Sendable {
    /// The whole file.
    public private(set) var bytes: [UInt8]
    public private(set) var packets = 0
    /// Bytes after which no further packet is kept. Stops a storm from filling the memory.
    public let limit: Int

    public init(limit: Int = 64 << 20) {
        self.limit = limit
        // Magic number, version 2.4, times in UTC without accuracy, 65535 bytes a packet, Ethernet; little endian.
        bytes = Self.little(0xA1B2_C3D4) + [2, 0, 4, 0] + Self.little(0) + Self.little(0) + Self.little(65_535)
        bytes += Self.little(1)
    }

    /// - Parameters:
    ///   - sender: gives the source its Ethernet address.
    ///   - time: since the start of the run; the file has it as time since 1970.
    public mutating func add(_ datagram: Datagram, sender: InterfaceID, at time: Instant) {
        let frame = Self.frame(datagram, sender: sender)
        guard bytes.count + frame.count + 16 <= limit else { return }
        packets += 1
        bytes += Self.little(UInt32(truncatingIfNeeded: time.nanoseconds / 1_000_000_000))
        bytes += Self.little(UInt32(time.nanoseconds % 1_000_000_000 / 1000))
        bytes += Self.little(UInt32(frame.count)) + Self.little(UInt32(frame.count))
        bytes += frame
    }

    private static func frame(_ datagram: Datagram, sender: InterfaceID) -> [UInt8] {
        let destination = datagram.destination.address
        let ethernet = ethernetAddress(of: destination) + ethernetAddress(of: sender)
        let udp = udp(datagram)
        if destination.isIPv4 {
            var header: [UInt8] = [0x45, 0] + big(UInt16(20 + udp.count)) + [0, 0, 0x40, 0, 255, 17, 0, 0]
            header += datagram.source.address.bytes + destination.bytes
            header.replaceSubrange(10..<12, with: big(~checksum(header)))
            return ethernet + [0x08, 0x00] + header + udp
        }
        let header: [UInt8] =
            [0x60, 0, 0, 0] + big(UInt16(udp.count)) + [17, 255] + datagram.source.address.bytes + destination.bytes
        return ethernet + [0x86, 0xDD] + header + udp
    }

    private static func udp(_ datagram: Datagram) -> [UInt8] {
        let length = big(UInt16(8 + datagram.payload.count))
        var udp = big(datagram.source.port) + big(datagram.destination.port) + length + [0, 0] + datagram.payload
        // RFC 768 and RFC 8200 section 8.1: over both addresses, protocol and length as well; 0 is sent as its complement.
        let pseudo = datagram.source.address.bytes + datagram.destination.address.bytes + [0, 17] + length
        let sum = ~checksum(pseudo + udp)
        udp.replaceSubrange(6..<8, with: big(sum == 0 ? 0xFFFF : sum))
        return udp
    }

    /// RFC 1071: the one's complement sum of 16-bit words.
    static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        for index in stride(from: 0, to: bytes.count, by: 2) {
            sum += UInt32(bytes[index]) << 8 | (index + 1 < bytes.count ? UInt32(bytes[index + 1]) : 0)
        }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        return UInt16(sum)
    }

    /// Multicast addresses as RFC 1112 section 6.4 and RFC 2464 section 7 map them; hosts get a locally administered one.
    private static func ethernetAddress(of destination: IPAddress) -> [UInt8] {
        let bytes = destination.bytes
        if destination.isBroadcast { return [UInt8](repeating: 0xFF, count: 6) }
        if destination.isMulticast {
            return destination.isIPv4
                ? [0x01, 0x00, 0x5E, bytes[1] & 0x7F] + bytes.suffix(2) : [0x33, 0x33] + bytes.suffix(4)
        }
        return [0x02, 0x01] + bytes.suffix(4)
    }

    private static func ethernetAddress(of interface: InterfaceID) -> [UInt8] {
        [0x02, 0x00] + little(UInt32(interface.index)).reversed()
    }

    private static func little(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> ($0 * 8) & 0xFF) } }
    private static func big(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
}
