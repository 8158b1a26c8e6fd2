public import DNSWire

/// The packet that wakes a sleeping host: six bytes 0xFF, sixteen copies of the card's address, and the password if the
/// card requires one. A card searches every frame for these bytes, so the protocol that carries them does not matter.
public struct MagicPacket: Hashable, Sendable {
    /// The card to wake.
    public var card: MACAddress
    /// The password, or nil.
    public var password: WakePassword?

    /// The EtherType of a frame that contains only a magic packet.
    public static let etherType: UInt16 = 0x0842
    /// The UDP port that receives magic packets by convention ("discard").
    public static let port: UInt16 = 9
    private static let repetitions = 16

    /// Creates a packet.
    public init(card: MACAddress, password: WakePassword? = nil) {
        self.card = card
        self.password = password
    }

    /// The payload of a UDP datagram, or of an Ethernet frame of type ``etherType``: 102, 106 or 108 bytes.
    public var payload: [UInt8] {
        MACAddress.broadcast.bytes + (0..<Self.repetitions).flatMap { _ in card.bytes } + (password?.bytes ?? [])
    }

    /// Returns a whole Ethernet frame of type ``etherType``.
    public func frame(from source: MACAddress, to destination: MACAddress = .broadcast) -> [UInt8] {
        destination.bytes + source.bytes
            + [UInt8(Self.etherType >> 8), UInt8(truncatingIfNeeded: Self.etherType)] + payload
    }
}
