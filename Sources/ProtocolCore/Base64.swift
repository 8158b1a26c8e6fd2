/// Base 64 (RFC 4648 §4).
package enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes, with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let padded = Array(group) + Array(repeating: 0, count: 3 - group.count)
            let number = padded.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            for place in 0..<4 {
                text.append(
                    place <= group.count ? digits[Int(number >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes base 64 with padding. Returns nil if the text is not valid.
    package static func decode(_ text: String) -> [UInt8]? {
        let all = Array(text.utf8)
        guard all.count % 4 == 0 else { return nil }
        let padding = all.suffix(2).count { $0 == UInt8(ascii: "=") }
        let digits = all.dropLast(padding)
        var bytes: [UInt8] = []
        var (bits, number) = (0, UInt32(0))
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            number = (number << 6 | UInt32(value)) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: number >> UInt32(bits)))
            }
        }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x41...0x5A: digit - 0x41
        case 0x61...0x7A: digit - 0x61 + 26
        case 0x30...0x39: digit - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        case _: nil
        }
    }
}
