public import DNSWire

/// A DHCP message (RFC 2131 §2) for an Ethernet card. The server's name and the boot file are dropped; options in these
/// two fields are decoded.
public struct DHCPMessage: Hashable, Sendable {
    /// The message operation code (op).
    public enum Operation: UInt8, Hashable, Sendable { case request = 1, reply = 2 }

    /// The direction of the message.
    public var operation: Operation
    /// The transaction id (xid). The client chooses it, and replies repeat it.
    public var transaction: UInt32
    /// The seconds since the client's first request (secs).
    public var secondsElapsed: UInt16
    /// True if the reply must be broadcast, because the client cannot receive unicast packets before it has an address.
    public var wantsBroadcast: Bool
    /// The client's own address, if it can answer ARP requests for it (ciaddr).
    public var clientAddress: IPv4Address
    /// The address for the client (yiaddr).
    public var yourAddress: IPv4Address
    /// The next server (siaddr).
    public var nextServer: IPv4Address
    /// The relay agent's address (giaddr).
    public var relay: IPv4Address
    /// The client's hardware address (chaddr).
    public var clientHardware: MACAddress
    /// The options of the message.
    public var options: DHCPOptions

    /// The minimum length in bytes; old BOOTP relays drop shorter messages (RFC 1542 §2.1).
    public static let leastLength = 300
    /// The limit of a message in bytes, which exceeds the payload of any received frame and bounds the work per
    /// message.
    public static let lengthLimit = 1500

    static let cookie: UInt32 = 0x6382_5363
    static let serverNameRange = 44..<108
    static let fileRange = 108..<236
    static let optionsStart = 240
    private static let flagBroadcast: UInt16 = 0x8000

    /// Creates a message.
    public init(
        operation: Operation, transaction: UInt32, secondsElapsed: UInt16 = 0, wantsBroadcast: Bool = false,
        clientAddress: IPv4Address = .any, yourAddress: IPv4Address = .any, nextServer: IPv4Address = .any,
        relay: IPv4Address = .any, clientHardware: MACAddress, options: DHCPOptions = DHCPOptions()
    ) {
        self.operation = operation
        self.transaction = transaction
        self.secondsElapsed = secondsElapsed
        self.wantsBroadcast = wantsBroadcast
        self.clientAddress = clientAddress
        self.yourAddress = yourAddress
        self.nextServer = nextServer
        self.relay = relay
        self.clientHardware = clientHardware
        self.options = options
    }

    /// Decodes the payload of a UDP datagram. Rejects messages that are truncated, not for Ethernet, without the magic
    /// cookie, or with an option that ends after its field. An option with malformed *content*, such as a lease time of
    /// three bytes, does not affect the others: it reads as nil, like a missing one.
    ///
    /// - Throws: the reason and the position.
    public init(decoding bytes: [UInt8]) throws(PacketError) {
        guard bytes.count <= Self.lengthLimit else {
            throw PacketError(offset: Self.lengthLimit, reason: .tooLong(limit: Self.lengthLimit))
        }
        var reader = ByteReader(bytes)
        let code = try reader.readUInt8()
        guard let operation = Operation(rawValue: code) else {
            throw PacketError(offset: 0, reason: .operation(UInt16(code)))
        }
        self.operation = operation
        let hardware = try reader.readUInt8()
        guard hardware == 1 else { throw PacketError(offset: 1, reason: .hardwareType(UInt16(hardware))) }
        let hardwareLength = try reader.readUInt8()
        guard hardwareLength == 6 else { throw PacketError(offset: 2, reason: .addressLength(hardwareLength)) }
        _ = try reader.readUInt8()
        transaction = try reader.readUInt32()
        secondsElapsed = try reader.readUInt16()
        wantsBroadcast = try reader.readUInt16() & Self.flagBroadcast != 0
        clientAddress = try reader.readIPv4Address()
        yourAddress = try reader.readIPv4Address()
        nextServer = try reader.readIPv4Address()
        relay = try reader.readIPv4Address()
        clientHardware = try reader.readMACAddress()
        _ = try reader.readBytes(Self.fileRange.upperBound - reader.offset)
        let cookie = try reader.readUInt32()
        guard cookie == Self.cookie else {
            throw PacketError(offset: Self.fileRange.upperBound, reason: .cookie(cookie))
        }
        options = try DHCPOptions(decodingMessage: bytes)
    }

    /// The encoded message, padded to ``leastLength``.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = [operation.rawValue, 1, 6, 0]
        bytes += networkOrder(transaction) + networkOrder(secondsElapsed)
        bytes += networkOrder(wantsBroadcast ? Self.flagBroadcast : 0)
        for address in [clientAddress, yourAddress, nextServer, relay] { bytes += address.bytes }
        bytes += clientHardware.bytes
        bytes += [UInt8](repeating: 0, count: Self.fileRange.upperBound - bytes.count)
        bytes += networkOrder(Self.cookie) + options.encoded
        return bytes + [UInt8](repeating: 0, count: max(0, Self.leastLength - bytes.count))
    }
}
