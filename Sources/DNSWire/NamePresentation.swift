/// The text form of names (RFC 1035 §5.1, RFC 6763 §4.3): labels joined by dots. A backslash escapes dots and
/// backslashes inside a label; `\DDD` represents control characters and, in a label that is not UTF-8, all bytes above
/// 127.
extension Name: CustomStringConvertible {
    /// Parses the text form. A dot at the end is optional.
    public init(presentation: String) throws(NameError) {
        var labels: [[UInt8]] = []
        var label: [UInt8] = []
        let text = Array(presentation.utf8)
        var offset = 0
        while offset < text.count {
            switch text[offset] {
            case UInt8(ascii: "."):
                labels.append(label)
                label = []
                offset += 1
            case UInt8(ascii: "\\"):
                let (byte, length) = try Self.unescaped(text, at: offset)
                label.append(byte)
                offset += length
            case let byte:
                label.append(byte)
                offset += 1
            }
        }
        if !label.isEmpty { labels.append(label) }
        try self.init(labels: presentation == "." ? [] : labels)
    }

    /// Returns the byte that the escape at `offset` represents, and the escape's length.
    private static func unescaped(_ text: [UInt8], at offset: Int) throws(NameError) -> (UInt8, Int) {
        guard offset + 1 < text.count else { throw .badEscape(offset: offset) }
        let digits = text[(offset + 1)...].prefix(3)
        guard isDigit(text[offset + 1]) else { return (text[offset + 1], 2) }
        let value = digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
        guard digits.count == 3, digits.allSatisfy(isDigit), value <= 255 else { throw .badEscape(offset: offset) }
        return (UInt8(value), 4)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Returns one label as text, escaped for use within a whole name.
    public static func presentation(ofLabel label: some Collection<UInt8>) -> String {
        let isText = String(validating: label, as: UTF8.self) != nil
        var text: [UInt8] = []
        for byte in label {
            switch byte {
            case UInt8(ascii: "."), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
            case 0x20...0x7E: text.append(byte)
            case 0x80... where isText: text.append(byte)
            default: text += [UInt8(ascii: "\\")] + [byte / 100, byte / 10 % 10, byte % 10].map { $0 + 0x30 }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The escaped text without a final dot; "." for the root.
    public var description: String {
        bytes.count == 1 ? "." : labels.map { Self.presentation(ofLabel: $0) }.joined(separator: ".")
    }
}

/// A literal that is not a valid name is a programming error and traps. Use literals for constants and tests only.
extension Name: ExpressibleByStringLiteral {
    /// Parses the text form of a constant.
    public init(stringLiteral text: String) {
        do {
            try self.init(presentation: text)
        } catch {
            preconditionFailure("\"\(text)\" is not a domain name: \(error)")
        }
    }
}
