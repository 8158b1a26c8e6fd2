/// The identity of a host that a sleep proxy represents, and the data to wake it (draft-cheshire-edns0-owner-option). A
/// sleeping host registers with this option, its proxy repeats the option in each packet with the host's records, and
/// the host sends it with a new sequence number when it is awake.
public struct OwnerOption: Hashable, Sendable {
    /// The number of the current period between two wake-ups, modulo 256. The host increments it each time it wakes up.
    public var sequence: UInt8
    /// The hardware address that identifies the host. It is the same on all its interfaces.
    public var primary: MACAddress
    /// The address of the card that receives the magic packet, if it differs from ``primary``.
    public var wakeup: MACAddress?
    /// The password at the end of the magic packet, or nil.
    public var password: WakePassword?

    /// The code of the option.
    public static let code: UInt16 = 4
    /// The version of the format.
    static let version: UInt8 = 0

    /// Creates an option.
    public init(sequence: UInt8, primary: MACAddress, wakeup: MACAddress? = nil, password: WakePassword? = nil) {
        self.sequence = sequence
        self.primary = primary
        self.wakeup = wakeup
        self.password = password
    }

    /// The card that the host uses on this link, which receives the magic packet and answers for the host's addresses.
    public var card: MACAddress { wakeup ?? primary }

    /// Returns true if this sequence number is newer than the other one. The numbers wrap around, so a number is newer
    /// if it is at most 127 steps ahead (as in RFC 1982).
    public func isNewer(than other: UInt8) -> Bool { (1...127).contains(sequence &- other) }

    /// Decodes the data: version, sequence number, one or two hardware addresses, and a password of 0, 4 or 6 bytes.
    /// Returns nil if the length is not one of 8, 14, 18 and 20.
    init?(data: [UInt8]) {
        guard [8, 14, 18, 20].contains(data.count), let primary = MACAddress(bytes: data[2..<8]) else { return nil }
        sequence = data[1]
        self.primary = primary
        wakeup = data.count > 8 ? MACAddress(bytes: data[8..<14]) : nil
        password = data.count > 14 ? WakePassword(bytes: data[14...]) : nil
    }

    /// The data. An option with a password also has a wakeup address, because a decoder recognizes the password only by
    /// its position after that address.
    var data: [UInt8] {
        let second = password == nil ? wakeup : card
        return [Self.version, sequence] + primary.bytes + (second?.bytes ?? []) + (password?.bytes ?? [])
    }
}

/// The password of a magic packet ("SecureOn"): four or six bytes.
public struct WakePassword: Hashable, Sendable {
    /// The bytes in their order.
    public let bytes: [UInt8]

    /// Creates a password, or returns nil if the number of bytes is neither 4 nor 6.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 6 else { return nil }
        self.bytes = Array(bytes)
    }
}
