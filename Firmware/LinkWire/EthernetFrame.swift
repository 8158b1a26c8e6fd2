/// A frame as a packet socket gives and takes it: without preamble and check sequence.
public struct EthernetFrame: Hashable, Sendable {
    public var destination: MACAddress
    public var source: MACAddress
    /// What the payload is (IEEE 802 EtherType).
    public var type: UInt16
    /// Bytes behind the header; received ones may have padding up to 46 bytes at their end.
    public var payload: [UInt8]

    public static let arp: UInt16 = 0x0806
    public static let ipv4: UInt16 = 0x0800
    /// Bytes before the payload.
    public static let headerLength = 14

    public init(destination: MACAddress, source: MACAddress, type: UInt16, payload: [UInt8]) {
        self.destination = destination
        self.source = source
        self.type = type
        self.payload = payload
    }

    public init(decoding bytes: [UInt8]) throws(LinkWireError) {
        var reader = ByteReader(bytes)
        destination = try reader.readMACAddress()
        source = try reader.readMACAddress()
        type = try reader.readUInt16()
        payload = Array(bytes[reader.offset...])
    }

    /// Not padded to the least length of a frame: that is the card's work.
    public var encoded: [UInt8] { destination.bytes + source.bytes + networkOrder(type) + payload }
}
