/// Escapes untrusted text for a line of a file: bytes below 0x20, `%` and `;` are written as `%` and two hexadecimal
/// digits, so that `;` can be a separator.
enum EscapedText {
    static let separator = UInt8(ascii: ";")
    private static let escape = UInt8(ascii: "%")
    private static let digits = Array("0123456789abcdef".utf8)

    static func bytes(of text: String) -> [UInt8] {
        text.utf8.flatMap { byte in
            byte < 0x20 || byte == escape || byte == separator ? [escape] + hexadecimal(byte) : [byte]
        }
    }

    /// Removes the escapes. Returns nil if the text is not valid.
    static func text(_ escaped: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = escaped
        while let byte = rest.popFirst() {
            guard byte == escape else {
                bytes.append(byte)
                continue
            }
            guard let value = values(of: rest.prefix(2)), value.count == 1 else { return nil }
            bytes += value
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    static func hexadecimal(_ byte: UInt8) -> [UInt8] { [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }

    /// Decodes hexadecimal digits. Returns nil if the text contains anything else.
    static func values(of text: Substring.UTF8View) -> [UInt8]? {
        let values = text.compactMap { digits.firstIndex(of: $0) }
        guard values.count == text.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}
