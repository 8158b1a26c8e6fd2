/// A paired controller (HAP 5.11).
public struct ControllerPairing: Hashable, Sendable {
    /// The controller's own identifier, usually a UUID.
    public let identifier: [UInt8]
    /// The controller's Ed25519 key.
    public let publicKey: [UInt8]
    /// True if the controller may add and remove controllers.
    public let isAdmin: Bool

    /// The limit of an identifier in bytes. Controllers use UUIDs of 36 characters.
    static let longestIdentifier = 64

    /// Creates a pairing, or returns nil if the identifier or the key has an invalid length.
    init?(identifier: [UInt8]?, publicKey: [UInt8]?, isAdmin: Bool) {
        guard let identifier, (1...Self.longestIdentifier).contains(identifier.count),
            let publicKey, publicKey.count == PairingCryptography.keyLength
        else { return nil }
        (self.identifier, self.publicKey, self.isAdmin) = (identifier, publicKey, isAdmin)
    }

    /// The identifier as text.
    public var name: String { String(decoding: identifier, as: UTF8.self) }
}

/// The persistent data of an accessory server, stored as one value: its identity, its paired controllers, and the last
/// announced shape of its accessories.
public struct HomeKitRecords: Hashable, Sendable, CustomStringConvertible {
    /// The limit of paired controllers; HAP 5.11 requires at least 16.
    public static let pairingLimit = 16

    /// Six bytes in hexadecimal with colons. With a new id, controllers see a new accessory (HAP 5.4).
    public let deviceID: String
    let signingKey: [UInt8]
    /// The paired controllers, at most ``pairingLimit``.
    public private(set) var pairings: [ControllerPairing]
    /// The configuration number, 1 to 65,535 (HAP 6.4, c#).
    public private(set) var configurationNumber: UInt32
    private(set) var shape: [UInt8]

    /// Creates the records of a new accessory.
    ///
    /// - Parameter seed: at least 32 random bytes from a secure generator.
    public init(seed: [UInt8]) {
        var random = SecretRandomness(seed: seed)
        deviceID = Self.text(random.bytes(6))
        signingKey = random.bytes(PairingCryptography.keyLength)
        (pairings, configurationNumber, shape) = ([], 1, [])
    }

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }

    /// A description without the signing key, which must not be logged.
    public var description: String { "HomeKit records of \(deviceID): \(pairings.map(\.name))" }

    var hasAdmin: Bool { pairings.contains(where: \.isAdmin) }

    func pairing(of identifier: [UInt8]) -> ControllerPairing? { pairings.first { $0.identifier == identifier } }

    mutating func put(_ pairing: ControllerPairing) {
        if let index = pairings.firstIndex(where: { $0.identifier == pairing.identifier }) {
            pairings[index] = pairing
        } else {
            pairings.append(pairing)
        }
    }

    /// Removes a pairing. If no administrator remains, removes all pairings, because no remaining controller could add
    /// others (HAP 5.11).
    mutating func remove(_ identifier: [UInt8]) {
        pairings.removeAll { $0.identifier == identifier }
        if !hasAdmin { pairings = [] }
    }

    mutating func removeAll() { pairings = [] }

    /// Stores the shape. If it replaces a different shape, increments the configuration number, which restarts at 1
    /// after 65,535. The first shape leaves the number at 1.
    mutating func adopt(shape new: [UInt8]) {
        guard new != shape else { return }
        if !shape.isEmpty { configurationNumber = configurationNumber >= 65_535 ? 1 : configurationNumber + 1 }
        shape = new
    }

    // MARK: As bytes

    private enum Field {
        static let version: UInt8 = 1
        static let deviceID: UInt8 = 2
        static let signingKey: UInt8 = 3
        static let configurationNumber: UInt8 = 4
        static let shape: UInt8 = 5
        static let identifier: UInt8 = 6
        static let publicKey: UInt8 = 7
        static let permissions: UInt8 = 8
    }

    private static let version: UInt8 = 1

    /// The encoded records. They contain the signing key, so the file must be readable only by its owner.
    public var encoded: [UInt8] {
        let number = (0..<4).map { UInt8(truncatingIfNeeded: configurationNumber >> (8 * UInt32($0))) }
        var items = TLV8([
            TLV8.Item(Field.version, [Self.version]), TLV8.Item(Field.deviceID, Array(deviceID.utf8)),
            TLV8.Item(Field.signingKey, signingKey), TLV8.Item(Field.configurationNumber, number),
            TLV8.Item(Field.shape, shape),
        ])
        for pairing in pairings {
            items.append(Field.identifier, pairing.identifier)
            items.append(Field.publicKey, pairing.publicKey)
            items.append(Field.permissions, [pairing.isAdmin ? 1 : 0])
        }
        return items.encoded
    }

    /// Decodes stored records.
    ///
    /// - Throws: ``HomeKitError`` if they are damaged.
    public init(decoding bytes: some Sequence<UInt8>) throws(HomeKitError) {
        let items: TLV8
        do { items = try TLV8(decoding: bytes) } catch { throw .damagedRecords("\(error)") }
        guard items[Field.version] == [Self.version] else { throw .damagedRecords("unknown version") }
        guard let id = items[Field.deviceID], let key = items[Field.signingKey],
            key.count == PairingCryptography.keyLength, let number = items[Field.configurationNumber],
            number.count == 4, let shape = items[Field.shape]
        else { throw .damagedRecords("identity or configuration number is missing") }
        deviceID = String(decoding: id, as: UTF8.self)
        guard Self.isDeviceID(deviceID) else { throw .damagedRecords("the device id is not six bytes in hexadecimal") }
        signingKey = key
        configurationNumber = number.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        guard (1...65_535).contains(configurationNumber) else {
            throw .damagedRecords("configuration number \(configurationNumber) is not between 1 and 65535")
        }
        self.shape = shape
        pairings = []
        let rest = Array(items.items.drop { $0.type != Field.identifier })
        for start in stride(from: 0, to: rest.count, by: 3) {
            guard rest.count >= start + 3, rest[start].type == Field.identifier,
                rest[start + 1].type == Field.publicKey, rest[start + 2].type == Field.permissions,
                let pairing = ControllerPairing(
                    identifier: rest[start].value, publicKey: rest[start + 1].value,
                    isAdmin: rest[start + 2].value == [1]),
                self.pairing(of: pairing.identifier) == nil, pairings.count < Self.pairingLimit
            else { throw .damagedRecords("controller \(start / 3 + 1) is incomplete or not unique") }
            pairings.append(pairing)
        }
        guard pairings.isEmpty || hasAdmin else { throw .damagedRecords("no controller is an administrator") }
    }

    private static func isDeviceID(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 6
            && parts.allSatisfy { $0.utf8.count == 2 && UInt8($0, radix: 16) != nil && $0 == $0.uppercased() }
    }
}
