/// The type of a service or a characteristic (HAP 6.6.1): a whole UUID, or a short form for Apple's own types. The
/// short form has only the first eight digits of the UUID, because the remaining digits of all Apple types are equal.
public struct AccessoryType: Hashable, Sendable, CustomStringConvertible {
    /// The type as the JSON of an accessory contains it: a hexadecimal number without leading zeros, or a UUID, in
    /// capital letters.
    public let description: String

    private static let base = "-0000-1000-8000-0026BB765291"

    /// Creates one of Apple's types from the first eight digits of its UUID.
    public init(_ number: UInt32) { description = String(number, radix: 16, uppercase: true) }

    private init(_ description: String) { self.description = description }

    /// Creates a type from a UUID of 36 characters, or returns nil for any other text.
    public init?(uuid: String) {
        let text = uuid.uppercased()
        let dashes: Set = [8, 13, 18, 23]
        guard text.utf8.count == 36,
            text.utf8.enumerated().allSatisfy({ place, byte in
                dashes.contains(place)
                    ? byte == UInt8(ascii: "-") : (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte)
            })
        else { return nil }
        if text.hasSuffix(Self.base), let number = UInt32(text.prefix(8), radix: 16) {
            self.init(number)
        } else {
            self.init(text)
        }
    }

    /// Programmable Switch Event (HAP 9.75).
    public static let programmableSwitchEvent = AccessoryType(0x73)
}
