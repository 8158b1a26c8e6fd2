public import AddressConfiguration
public import DNSWire

/// A neighbour solicitation or advertisement of ICMPv6 (RFC 4861 §4.3, §4.4), the IPv6 counterpart of an ARP packet.
public struct NeighborMessage: Hashable, Sendable {
    /// The kind of message.
    public enum Kind: Hashable, Sendable {
        /// A question for the hardware address of ``NeighborMessage/target``.
        case solicitation
        /// The hardware address of ``NeighborMessage/target``.
        ///
        /// - Parameters:
        ///   - isSolicited: the message answers a solicitation.
        ///   - overrides: the message replaces an address that a neighbour has cached.
        case advertisement(isSolicited: Bool, overrides: Bool)
    }

    /// The kind of message.
    public var kind: Kind
    /// The address in question.
    public var target: IPv6Address
    /// The source's hardware address in a solicitation, or the target's in an advertisement; nil without that option.
    public var hardware: MACAddress?

    private static let solicitationType: UInt8 = 135
    private static let advertisementType: UInt8 = 136
    private static let sourceOption: UInt8 = 1
    private static let targetOption: UInt8 = 2
    private static let solicitedFlag: UInt32 = 0x4000_0000
    private static let overrideFlag: UInt32 = 0x2000_0000
    /// The hop limit of every message. A router decrements it, so this limit proves that the sender is on the link.
    static let hopLimit: UInt8 = 255

    /// Creates a message.
    public init(_ kind: Kind, target: IPv6Address, hardware: MACAddress?) {
        self.kind = kind
        self.target = target
        self.hardware = hardware
    }

    /// Decodes the payload of an IPv6 packet, and checks the packet as RFC 4861 §7.1 requires.
    public init(decoding packet: IPv6Packet) throws(PacketError) {
        guard packet.transport == IPv6Packet.icmp else {
            throw PacketError(offset: 0, reason: .transport(packet.transport))
        }
        guard packet.hopLimit == Self.hopLimit else {
            throw PacketError(offset: 0, reason: .hopLimit(packet.hopLimit))
        }
        guard Self.checksum(packet.payload, from: packet.source, to: packet.destination) == 0 else {
            throw PacketError(offset: 2, reason: .checksum)
        }
        var reader = ByteReader(packet.payload)
        let type = try reader.readUInt8()
        let code = try reader.readUInt8()
        _ = try reader.readUInt16()
        let flags = try reader.readUInt32()
        target = try reader.readIPv6Address()
        switch (type, code) {
        case (Self.solicitationType, 0):
            kind = .solicitation
            hardware = try Self.option(Self.sourceOption, &reader)
        case (Self.advertisementType, 0):
            kind = .advertisement(
                isSolicited: flags & Self.solicitedFlag != 0, overrides: flags & Self.overrideFlag != 0)
            hardware = try Self.option(Self.targetOption, &reader)
        default: throw PacketError(offset: 0, reason: .neighborMessage(type: type, code: code))
        }
    }

    /// Returns the hardware address of an option of eight bytes with this type.
    private static func option(_ wanted: UInt8, _ reader: inout ByteReader) throws(PacketError) -> MACAddress? {
        var found: MACAddress?
        while reader.remaining > 0 {
            let offset = reader.offset
            let type = try reader.readUInt8()
            let units = try reader.readUInt8()
            guard units > 0 else { throw PacketError(offset: offset, reason: .optionLength(units)) }
            let data = try reader.readBytes(8 * Int(units) - 2)
            if type == wanted, units == 1, found == nil { found = MACAddress(bytes: data) }
        }
        return found
    }

    /// Returns the message in an IPv6 packet with its checksum.
    public func packet(from source: IPv6Address, to destination: IPv6Address) -> IPv6Packet {
        let (type, flags, option) =
            switch kind {
            case .solicitation: (Self.solicitationType, UInt32(0), Self.sourceOption)
            case .advertisement(let isSolicited, let overrides):
                (
                    Self.advertisementType,
                    (isSolicited ? Self.solicitedFlag : 0) | (overrides ? Self.overrideFlag : 0), Self.targetOption
                )
            }
        var bytes = [type, 0, 0, 0] + networkOrder(flags) + target.bytes
        if let hardware { bytes += [option, 1] + hardware.bytes }
        bytes.replaceSubrange(2..<4, with: networkOrder(Self.checksum(bytes, from: source, to: destination)))
        return IPv6Packet(
            source: source, destination: destination, hopLimit: Self.hopLimit, transport: IPv6Packet.icmp,
            payload: bytes)
    }

    /// The checksum with the pseudo-header (RFC 8200 §8.1).
    private static func checksum(
        _ bytes: [UInt8], from source: IPv6Address, to destination: IPv6Address
    ) -> UInt16 {
        var checksum = InternetChecksum()
        checksum.add(source.bytes + destination.bytes)
        checksum.add(networkOrder(UInt32(clamping: bytes.count)) + [0, 0, 0, IPv6Packet.icmp])
        checksum.add(bytes)
        return checksum.value
    }
}
