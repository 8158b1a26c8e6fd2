/// Bytes as text: two hexadecimal digits per byte.
public enum HexadecimalText {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns two small digits per byte.
    public static func text(of bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns nil if the text has an odd length or contains anything but digits, small or capital.
    public static func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
        let values = text.compactMap { character -> UInt8? in
            switch character {
            case 0x30...0x39: character - 0x30
            case 0x61...0x66: character - 0x61 + 10
            case 0x41...0x46: character - 0x41 + 10
            default: nil
            }
        }
        guard values.count == text.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}
