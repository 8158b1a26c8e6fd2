@_spi(_Unicode) import Swift

extension String {
    /// Normalization form C, which every name on the wire has (RFC 6762 §16, RFC 5198): peers compare bytes. The standard library
    /// normalizes strings to compare them and offers that in no public way so far; the public one is in full Foundation, which
    /// would bring ICU's tables into the firmware a second time. A toolchain without this door fails to build, and is told.
    package var precomposed: String {
        guard utf8.contains(where: { $0 >= 0x80 }) else { return self }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: _nfc)
        return String(text)
    }
}
