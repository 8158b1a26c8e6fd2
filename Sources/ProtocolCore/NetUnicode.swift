@_spi(_Unicode) import Swift

extension String {
    /// The text in normalization form C, which every name on the wire uses (RFC 6762 §16, RFC 5198), because peers
    /// compare bytes. The standard library normalizes strings for comparison but has no public API for it. The public
    /// API in Foundation would add ICU's tables to the firmware a second time. A toolchain without this SPI fails to
    /// build.
    package var precomposed: String {
        guard utf8.contains(where: { $0 >= 0x80 }) else { return self }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: _nfc)
        return String(text)
    }
}
