import ProtocolCore

/// Base 64 with the alphabet for URLs and without padding (RFC 4648 §5, RFC 7515 §2).
package enum Base64URL {
    /// Encodes bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64.encode(bytes).utf8.compactMap { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            case _: digit
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes text. Returns nil if the text is not valid, or if it does not have this number of bytes.
    package static func decode(_ text: String, bytes count: Int) -> [UInt8]? {
        // Four digits have three bytes. The comparison limits the work for a text of any length.
        guard text.utf8.count == (count * 4 + 2) / 3 else { return nil }
        var digits: [UInt8] = []
        for digit in text.utf8 {
            switch digit {
            case UInt8(ascii: "-"): digits.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): digits.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            case _: digits.append(digit)
            }
        }
        digits += [UInt8](repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
        guard let bytes = Base64.decode(String(decoding: digits, as: UTF8.self)), bytes.count == count else {
            return nil
        }
        return bytes
    }
}
