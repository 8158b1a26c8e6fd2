internal import DNSWire
public import ProtocolCore

/// The packets on the links as a capture file for Wireshark (link type Ethernet). The bytes are in memory until
/// ``write(to:)`` writes the file.
public struct PacketCapture: Sendable {
    /// The whole file.
    public private(set) var bytes: [UInt8]
    /// The number of captured packets.
    public private(set) var packets = 0
    /// The limit in bytes, above which packets are dropped. It bounds the memory during a storm.
    public let limit: Int

    /// Creates an empty capture with a limit in bytes.
    public init(limit: Int = 64 << 20) {
        self.limit = limit
        bytes = CaptureFormat.header(.ethernet)
    }

    /// Adds a datagram. Drops it if the capture would exceed ``limit``.
    ///
    /// - Parameters:
    ///   - sender: determines the source's Ethernet address.
    ///   - time: the time since the start of the run, stored as time since 1970.
    public mutating func add(_ datagram: Datagram, sender: InterfaceID, at time: Instant) {
        let packet = InternetPacket.udp(from: datagram.source.traced, to: datagram.destination.traced, datagram.payload)
        add(packet, to: datagram.destination.address, sender: sender, at: time)
    }

    mutating func add(_ packet: [UInt8], to destination: IPAddress, sender: InterfaceID, at time: Instant) {
        let type: [UInt8] = destination.isIPv4 ? [0x08, 0x00] : [0x86, 0xDD]
        let frame = Self.ethernetAddress(of: destination) + Self.ethernetAddress(of: sender) + type + packet
        guard bytes.count + frame.count + 16 <= limit else { return }
        packets += 1
        bytes += CaptureFormat.record(frame, at: time.nanoseconds)
    }

    /// Maps multicast addresses as RFC 1112 section 6.4 and RFC 2464 section 7 define. Hosts get a locally administered
    /// address.
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
        let index = UInt32(interface.index)
        return [0x02, 0x00] + stride(from: 24, through: 0, by: -8).map { UInt8(index >> UInt32($0) & 0xFF) }
    }
}

extension Endpoint {
    var traced: TracedEndpoint { TracedEndpoint(address.bytes, port) }
}
