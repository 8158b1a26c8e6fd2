import ProtocolCore

/// The setup code that the user types to pair, XXX-XX-XXX (HAP 4.2.1).
public struct HomeKitSetupCode: Hashable, Sendable, CustomStringConvertible {
    /// The code as XXX-XX-XXX.
    public let description: String

    /// Codes that attackers guess first: one repeated digit, ascending and descending digits (HAP 4.2.1.2).
    private static let trivial: Set<UInt32> = [
        0, 11_111_111, 22_222_222, 33_333_333, 44_444_444, 55_555_555, 66_666_666, 77_777_777, 88_888_888, 99_999_999,
        12_345_678, 87_654_321,
    ]

    /// Creates a code from text. Returns nil if its form is not valid or the code is trivial.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[3] == UInt8(ascii: "-"), bytes[6] == UInt8(ascii: "-") else { return nil }
        let digits = bytes.filter { $0 != UInt8(ascii: "-") }
        guard digits.count == 8, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        description = text
        guard !Self.trivial.contains(number) else { return nil }
    }

    /// Draws a random code that is not trivial.
    ///
    /// - Parameter generator: a secure generator.
    public init(using generator: inout some RandomNumberGenerator) {
        while true {
            let digits = String(UInt32.random(in: 0..<100_000_000, using: &generator))
            let all = String(repeating: "0", count: 8 - digits.count) + digits
            if let code = HomeKitSetupCode("\(all.prefix(3))-\(all.dropFirst(3).prefix(2))-\(all.suffix(3))") {
                self = code
                return
            }
        }
    }

    /// The digits as one number.
    var number: UInt32 { UInt32(description.filter { $0 != "-" }) ?? 0 }
}

/// Four characters, each a digit or a capital letter. By this id, a controller that scanned a label finds the accessory
/// (HAP 4.2.2).
public struct HomeKitSetupID: Hashable, Sendable, CustomStringConvertible {
    /// The four characters.
    public let description: String

    /// Creates an id from text. Returns nil unless the text has exactly four characters, each a digit or a capital
    /// letter.
    public init?(_ text: String) {
        guard text.utf8.count == 4,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) })
        else { return nil }
        description = text
    }
}

/// The categories of accessories (HAP, table 13-1). Categories without a constant are created from their number.
public struct HomeKitCategory: RawRepresentable, Hashable, Sendable {
    /// The number of the category.
    public let rawValue: UInt8

    /// Creates a category from its number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// An accessory that fits no other category.
    public static let other = HomeKitCategory(rawValue: 1)
    /// A lamp.
    public static let lightbulb = HomeKitCategory(rawValue: 5)
    /// A socket outlet.
    public static let outlet = HomeKitCategory(rawValue: 7)
    /// A switch without a load, which triggers scenes.
    public static let programmableSwitch = HomeKitCategory(rawValue: 15)
}

/// The content of the QR code on a label (HAP 4.2.2): category, transport, setup code and setup id.
public struct HomeKitSetupPayload: Hashable, Sendable {
    /// The bit for HAP over IP (bit 28).
    private static let overIP: UInt64 = 1 << 28

    /// The URI, beginning with X-HM://.
    public let text: String

    /// Creates the payload of a label.
    public init(_ code: HomeKitSetupCode, id: HomeKitSetupID, category: HomeKitCategory) {
        var number = UInt64(category.rawValue) << 31 | Self.overIP | UInt64(code.number)
        let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        var text = ""
        for _ in 0..<9 {
            text = String(digits[Int(number % 36)]) + text
            number /= 36
        }
        self.text = "X-HM://\(text)\(id)"
    }
}

/// The attributes of `_hap._tcp` (HAP 6.4) in their order.
public struct HomeKitAnnouncement: Hashable, Sendable {
    /// The keys and values of the TXT record.
    public var attributes: [(key: String, value: String)] {
        [
            ("c#", "\(configurationNumber)"), ("ff", "0"), ("id", deviceID), ("md", model), ("pv", "1.1"),
            ("s#", "1"), ("sf", isPaired ? "0" : "1"), ("ci", "\(category.rawValue)"), ("sh", setupHash),
        ]
    }
    /// The configuration number. It increases, or restarts at 1 after 65,535, if services or characteristics change, so
    /// that controllers read them again.
    public let configurationNumber: UInt32
    /// The device id: six bytes in hexadecimal, separated by colons.
    public let deviceID: String
    /// The model name.
    public let model: String
    /// True if a controller is paired.
    public let isPaired: Bool
    /// The accessory category.
    public let category: HomeKitCategory
    /// A hash of the setup id, by which a controller that scanned a label finds the accessory.
    public let setupHash: String

    init(_ records: HomeKitRecords, model: String, category: HomeKitCategory, setupID: HomeKitSetupID) {
        configurationNumber = records.configurationNumber
        deviceID = records.deviceID
        self.model = model
        isPaired = !records.pairings.isEmpty
        self.category = category
        setupHash = Self.setupHash(setupID, deviceID)
    }

    /// Returns the first four bytes of the SHA-512 hash of the setup id and the device id, in base 64 (HAP 4.2.3).
    static func setupHash(_ id: HomeKitSetupID, _ deviceID: String) -> String {
        let hash = PairingCryptography.sha512(Array("\(id)\(deviceID)".utf8))
        return Base64.encode(Array(hash.prefix(4)))
    }
}
