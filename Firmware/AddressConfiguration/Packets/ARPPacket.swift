public import DNSWire

/// A packet of the address resolution protocol (RFC 826) about IPv4 addresses on Ethernet.
public struct ARPPacket: Hashable, Sendable {
    /// The operation code (ar$op).
    public enum Operation: UInt16, Hashable, Sendable { case request = 1, reply = 2 }

    /// The operation of the packet.
    public var operation: Operation
    /// The sender's hardware address.
    public var senderHardware: MACAddress
    /// The sender's IPv4 address.
    public var senderAddress: IPv4Address
    /// The target's hardware address; undefined in a request.
    public var targetHardware: MACAddress
    /// The target's IPv4 address.
    public var targetAddress: IPv4Address

    /// The length in bytes after the Ethernet header.
    public static let length = 28

    /// Creates a packet.
    public init(
        operation: Operation, senderHardware: MACAddress, senderAddress: IPv4Address, targetHardware: MACAddress,
        targetAddress: IPv4Address
    ) {
        self.operation = operation
        self.senderHardware = senderHardware
        self.senderAddress = senderAddress
        self.targetHardware = targetHardware
        self.targetAddress = targetAddress
    }

    /// Creates a probe, which asks whether another host has the address without claiming it (RFC 5227 §2.1.1).
    public static func probe(for address: IPv4Address, from sender: MACAddress) -> ARPPacket {
        ARPPacket(
            operation: .request, senderHardware: sender, senderAddress: .any, targetHardware: .zero,
            targetAddress: address)
    }

    /// Creates an announcement of the sender's address (RFC 5227 §2.3). It is a request, because all stacks understand
    /// requests (§3).
    public static func announcement(of address: IPv4Address, from sender: MACAddress) -> ARPPacket {
        ARPPacket(
            operation: .request, senderHardware: sender, senderAddress: address, targetHardware: .zero,
            targetAddress: address)
    }

    /// Creates the reply to a request or a probe for an address of the sender.
    public static func reply(to request: ARPPacket, from sender: MACAddress) -> ARPPacket {
        ARPPacket(
            operation: .reply, senderHardware: sender, senderAddress: request.targetAddress,
            targetHardware: request.senderHardware, targetAddress: request.senderAddress)
    }

    /// True for a request with the sender address 0.0.0.0 (RFC 5227 §1.1).
    public var isProbe: Bool { operation == .request && senderAddress == .any }

    /// Decodes the bytes after the Ethernet header. Bytes after the packet are padding.
    public init(decoding bytes: [UInt8]) throws(PacketError) {
        var reader = ByteReader(bytes)
        let hardware = try reader.readUInt16()
        guard hardware == 1 else { throw PacketError(offset: 0, reason: .hardwareType(hardware)) }
        let network = try reader.readUInt16()
        guard network == EthernetFrame.ipv4 else { throw PacketError(offset: 2, reason: .protocolType(network)) }
        let hardwareLength = try reader.readUInt8()
        guard hardwareLength == 6 else { throw PacketError(offset: 4, reason: .addressLength(hardwareLength)) }
        let networkLength = try reader.readUInt8()
        guard networkLength == 4 else { throw PacketError(offset: 5, reason: .addressLength(networkLength)) }
        let code = try reader.readUInt16()
        guard let operation = Operation(rawValue: code) else {
            throw PacketError(offset: 6, reason: .operation(code))
        }
        self.operation = operation
        senderHardware = try reader.readMACAddress()
        senderAddress = try reader.readIPv4Address()
        targetHardware = try reader.readMACAddress()
        targetAddress = try reader.readIPv4Address()
    }

    /// The 28 bytes after the Ethernet header.
    public var encoded: [UInt8] {
        let lengths: [UInt8] = [6, 4]
        return networkOrder(UInt16(1)) + networkOrder(EthernetFrame.ipv4) + lengths + networkOrder(operation.rawValue)
            + senderHardware.bytes + senderAddress.bytes + targetHardware.bytes + targetAddress.bytes
    }
}
