public import DNSWire

/// A packet of the address resolution protocol (RFC 826) about IPv4 addresses on Ethernet.
public struct ARPPacket: Hashable, Sendable {
    public enum Operation: UInt16, Hashable, Sendable { case request = 1, reply = 2 }

    public var operation: Operation
    public var senderHardware: MACAddress
    public var senderAddress: IPv4Address
    /// Without meaning in a request.
    public var targetHardware: MACAddress
    public var targetAddress: IPv4Address

    /// Bytes on the wire, behind the Ethernet header.
    public static let length = 28

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

    /// Asks whether anybody has the address, without claiming it (RFC 5227 §2.1.1).
    public static func probe(for address: IPv4Address, from sender: MACAddress) -> ARPPacket {
        ARPPacket(
            operation: .request, senderHardware: sender, senderAddress: .any, targetHardware: .zero,
            targetAddress: address)
    }

    /// Says that the sender has the address (RFC 5227 §2.3): a request, since that is what all stacks understand (§3).
    public static func announcement(of address: IPv4Address, from sender: MACAddress) -> ARPPacket {
        ARPPacket(
            operation: .request, senderHardware: sender, senderAddress: address, targetHardware: .zero,
            targetAddress: address)
    }

    /// The answer to a request, or to a probe, for an address of the sender's.
    public static func reply(to request: ARPPacket, from sender: MACAddress) -> ARPPacket {
        ARPPacket(
            operation: .reply, senderHardware: sender, senderAddress: request.targetAddress,
            targetHardware: request.senderHardware, targetAddress: request.senderAddress)
    }

    /// A request of somebody without an address yet (RFC 5227 §1.1).
    public var isProbe: Bool { operation == .request && senderAddress == .any }

    /// The bytes behind the Ethernet header; what follows the packet is padding.
    public init(decoding bytes: [UInt8]) throws(LinkWireError) {
        var reader = ByteReader(bytes)
        let hardware = try reader.readUInt16()
        guard hardware == 1 else { throw LinkWireError(offset: 0, reason: .hardwareType(hardware)) }
        let network = try reader.readUInt16()
        guard network == EthernetFrame.ipv4 else { throw LinkWireError(offset: 2, reason: .protocolType(network)) }
        let hardwareLength = try reader.readUInt8()
        guard hardwareLength == 6 else { throw LinkWireError(offset: 4, reason: .addressLength(hardwareLength)) }
        let networkLength = try reader.readUInt8()
        guard networkLength == 4 else { throw LinkWireError(offset: 5, reason: .addressLength(networkLength)) }
        let code = try reader.readUInt16()
        guard let operation = Operation(rawValue: code) else {
            throw LinkWireError(offset: 6, reason: .operation(code))
        }
        self.operation = operation
        senderHardware = try reader.readMACAddress()
        senderAddress = try reader.readIPv4Address()
        targetHardware = try reader.readMACAddress()
        targetAddress = try reader.readIPv4Address()
    }

    /// The 28 bytes behind the Ethernet header.
    public var encoded: [UInt8] {
        networkOrder(UInt16(1)) + networkOrder(EthernetFrame.ipv4) + [6, 4] + networkOrder(operation.rawValue)
            + senderHardware.bytes + senderAddress.bytes + targetHardware.bytes + targetAddress.bytes
    }
}
