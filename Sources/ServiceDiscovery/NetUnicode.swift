@_spi(_Unicode) import Swift

extension String {
    /// Normalization form C, which every name on the wire has (RFC 6762 §16, RFC 5198): peers compare bytes. The standard library
    /// has it for comparing strings and lets it out only by this door.
    var precomposed: String {
        guard utf8.contains(where: { $0 >= 0x80 }) else { return self }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: _nfc)
        return String(text)
    }
}
