/// An address, 4 or 16 bytes in network order, and a port.
public struct TracedEndpoint: Hashable, Sendable {
    /// The address.
    public var address: [UInt8]
    /// The port.
    public var port: UInt16

    /// Creates an endpoint. The address must have 4 or 16 bytes.
    public init(_ address: [UInt8], _ port: UInt16) {
        precondition(address.count == 4 || address.count == 16, "addresses are those of IPv4 or IPv6")
        self.address = address
        self.port = port
    }
}

/// Builds IP packets for traces when only the payload of the traffic is known. The packets have correct lengths and
/// checksums, the hop limit of multicast DNS (255), and no options.
public enum InternetPacket {
    /// The maximum payload in bytes. Longer payloads are truncated.
    public static let longestPayload = 65_535 - 40 - 20

    /// Returns a UDP datagram (RFC 768) in an IP packet.
    public static func udp(from source: TracedEndpoint, to destination: TracedEndpoint, _ payload: [UInt8]) -> [UInt8] {
        let payload = payload.prefix(longestPayload)
        let header = big(source.port) + big(destination.port) + big(UInt16(8 + payload.count)) + [0, 0]
        return packet(.udp, from: source.address, to: destination.address, header + payload, checksumAt: 6)
    }

    /// The control bits of a TCP segment (RFC 9293 §3.1).
    public struct TCPFlags: OptionSet, Hashable, Sendable {
        /// The bits as in the header.
        public let rawValue: UInt8
        /// Creates a set from header bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The sender has sent all its data.
        public static let fin = TCPFlags(rawValue: 0x01)
        /// Synchronize sequence numbers.
        public static let syn = TCPFlags(rawValue: 0x02)
        /// Reset the connection.
        public static let rst = TCPFlags(rawValue: 0x04)
        /// Push function.
        public static let psh = TCPFlags(rawValue: 0x08)
        /// The acknowledgment number is valid.
        public static let ack = TCPFlags(rawValue: 0x10)
    }

    /// Returns a TCP segment in an IP packet, with the largest window that needs no option.
    ///
    /// - Parameters:
    ///   - sequence: the sequence number of the first byte.
    ///   - acknowledgement: the next expected byte, valid if `flags` contain ACK.
    public static func tcp(
        from source: TracedEndpoint, to destination: TracedEndpoint, _ flags: TCPFlags, sequence: UInt32,
        acknowledgement: UInt32, _ payload: [UInt8] = []
    ) -> [UInt8] {
        let numbers = [sequence, acknowledgement].flatMap { big(UInt16($0 >> 16)) + big(UInt16($0 & 0xFFFF)) }
        // Header length of five words, flags, window, checksum 0 for now, no urgent data.
        let rest: [UInt8] = [0x50, flags.rawValue, 0xFF, 0xFF, 0, 0, 0, 0]
        let header = big(source.port) + big(destination.port) + numbers + rest
        return packet(
            .tcp, from: source.address, to: destination.address, header + payload.prefix(longestPayload), checksumAt: 16
        )
    }

    private enum Transport: UInt8 {
        case tcp = 6
        case udp = 17
    }

    private static func packet(
        _ transport: Transport, from source: [UInt8], to destination: [UInt8], _ body: [UInt8], checksumAt place: Int
    ) -> [UInt8] {
        precondition(source.count == destination.count, "both ends of a packet are of one family")
        var body = body
        let length = big(UInt16(body.count))
        // The checksum includes both addresses, protocol and length (RFC 768, RFC 8200 §8.1). UDP sends a checksum of 0
        // as its complement.
        let sum = ~checksum(source + destination + [0, transport.rawValue] + length + body)
        body.replaceSubrange(place..<place + 2, with: big(sum == 0 && transport == .udp ? 0xFFFF : sum))
        guard source.count == 4 else {
            return [0x60, 0, 0, 0] + length + [transport.rawValue, 255] + source + destination + body
        }
        let total = big(UInt16(20 + body.count))
        var header: [UInt8] =
            [0x45, 0] + total + [0, 0, 0x40, 0, 255, transport.rawValue, 0, 0] + source + destination
        header.replaceSubrange(10..<12, with: big(~checksum(header)))
        return header + body
    }

    /// Returns the ones' complement sum of 16-bit words (RFC 1071).
    static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        for index in stride(from: 0, to: bytes.count, by: 2) {
            sum += UInt32(bytes[index]) << 8 | (index + 1 < bytes.count ? UInt32(bytes[index + 1]) : 0)
        }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        return UInt16(sum)
    }

    private static func big(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
}
