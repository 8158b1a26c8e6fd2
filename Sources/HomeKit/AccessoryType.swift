/// The type of a service or a characteristic (HAP 6.6.1): Apple's own in short form, of which the rest of the UUID is always the same, or a whole
/// UUID.
public struct AccessoryType: Hashable, Sendable, CustomStringConvertible {
    /// As it stands in attributes: without zeros in front, or as a UUID, in capital letters.
    public let description: String

    private static let base = "-0000-1000-8000-0026BB765291"

    /// One of Apple's: the first eight digits of its UUID.
    public init(_ number: UInt32) { description = String(number, radix: 16, uppercase: true) }

    private init(_ description: String) { self.description = description }

    /// nil where the text is no UUID in its form of 36 characters.
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

    public static let programmableSwitchEvent = AccessoryType(0x73)
}
