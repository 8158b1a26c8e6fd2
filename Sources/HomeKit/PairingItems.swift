/// The types of the items in pairing messages (HAP 5.15, table 5-6).
enum PairingItem {
    static let method: UInt8 = 0x00
    static let identifier: UInt8 = 0x01
    static let salt: UInt8 = 0x02
    static let publicKey: UInt8 = 0x03
    static let proof: UInt8 = 0x04
    static let encryptedData: UInt8 = 0x05
    static let state: UInt8 = 0x06
    static let error: UInt8 = 0x07
    static let retryDelay: UInt8 = 0x08
    static let signature: UInt8 = 0x0A
    static let permissions: UInt8 = 0x0B
    static let flags: UInt8 = 0x13
    static let separator: UInt8 = 0xFF
}

/// The methods of pairing messages (HAP 5.15, table 5-3).
enum PairingMethod: UInt8 {
    case pairSetup = 0
    case addPairing = 3
    case removePairing = 4
    case listPairings = 5
}

/// The errors in pairing messages (HAP 5.15, table 5-5).
public enum PairingError: UInt8, Hashable, Sendable {
    case unknown = 1
    /// The setup code or a signature is wrong, or the controller lacks the permission.
    case authentication = 2
    /// The controller must wait before its next try.
    case backoff = 3
    /// The limit of paired controllers is reached.
    case maxPeers = 4
    /// The setup code was wrong too often.
    case maxTries = 5
    /// The accessory is already paired, or the controller is in another network.
    case unavailable = 6
    /// Another controller is pairing, or a change of the records is being stored.
    case busy = 7
}

/// One pairing message: its state (HAP 5.6.1: M1 is 1) and its items.
struct PairingMessage {
    private(set) var items: TLV8

    init(_ items: TLV8) { self.items = items }

    init(state: UInt8, _ items: [TLV8.Item] = []) {
        self.items = TLV8([TLV8.Item(PairingItem.state, [state])] + items)
    }

    init(state: UInt8, error: PairingError) {
        self.init(state: state, [TLV8.Item(PairingItem.error, [error.rawValue])])
    }

    var state: UInt8? { byte(PairingItem.state) }
    var method: UInt8? { byte(PairingItem.method) }
    /// The flags, little-endian with 1 to 4 bytes.
    var flags: UInt32 {
        (items[PairingItem.flags] ?? []).prefix(4).enumerated().reduce(0) { $0 | UInt32($1.element) << (8 * $1.offset) }
    }
    var encoded: [UInt8] { items.encoded }

    /// Returns the value of an item, or nil if it is missing or does not have exactly one byte.
    private func byte(_ type: UInt8) -> UInt8? {
        guard let value = items[type], value.count == 1 else { return nil }
        return value[0]
    }
}
