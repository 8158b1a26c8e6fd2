public import DNSWire

/// A frame as a packet socket receives and sends it: without preamble and check sequence.
public struct EthernetFrame: Hashable, Sendable {
    /// The destination address.
    public var destination: MACAddress
    /// The source address.
    public var source: MACAddress
    /// The type of the payload (IEEE 802 EtherType).
    public var type: UInt16
    /// The bytes after the header. In a received frame they may end with padding that extends them to 46 bytes.
    public var payload: [UInt8]

    /// The EtherType of ARP.
    public static let arp: UInt16 = 0x0806
    /// The EtherType of IPv4.
    public static let ipv4: UInt16 = 0x0800
    /// The EtherType of IPv6.
    public static let ipv6: UInt16 = 0x86DD
    /// The length of the header in bytes.
    public static let headerLength = 14

    /// Creates a frame.
    public init(destination: MACAddress, source: MACAddress, type: UInt16, payload: [UInt8]) {
        self.destination = destination
        self.source = source
        self.type = type
        self.payload = payload
    }

    /// Decodes a frame.
    ///
    /// - Throws: ``PacketError`` if the header is truncated.
    public init(decoding bytes: [UInt8]) throws(PacketError) {
        var reader = ByteReader(bytes)
        destination = try reader.readMACAddress()
        source = try reader.readMACAddress()
        type = try reader.readUInt16()
        payload = Array(bytes[reader.offset...])
    }

    /// The encoded frame. The network card adds padding up to the minimum length.
    public var encoded: [UInt8] { destination.bytes + source.bytes + networkOrder(type) + payload }
}
