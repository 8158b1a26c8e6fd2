/// The parts of a DER structure that a controller of Matter has to read: a walk over tags and lengths, independent of
/// the device's encoder.
enum DERParts {
    /// An element with its complete encoding.
    struct Element {
        var tag: UInt8
        var content: [UInt8]
        var encoding: [UInt8]
    }

    /// Returns the elements of a sequence's content, or nil if the bytes are malformed.
    static func elements(_ bytes: [UInt8]) -> [Element]? {
        var rest = bytes[...]
        var found: [Element] = []
        while let tag = rest.first {
            guard let (header, length) = size(rest.dropFirst()), rest.count - 1 - header >= length else { return nil }
            let whole = rest.prefix(1 + header + length)
            found.append(Element(tag: tag, content: Array(whole.suffix(length)), encoding: Array(whole)))
            rest = rest.dropFirst(whole.count)
        }
        return found
    }

    /// Returns the number of bytes of the length field, and the length.
    private static func size(_ bytes: ArraySlice<UInt8>) -> (header: Int, length: Int)? {
        guard let first = bytes.first else { return nil }
        guard first >= 0x80 else { return (1, Int(first)) }
        let count = Int(first & 0x7F)
        guard (1...2).contains(count), bytes.count > count else { return nil }
        return (1 + count, bytes.dropFirst().prefix(count).reduce(0) { $0 << 8 | Int($1) })
    }

    /// Returns the three parts of a signed structure (a certificate or a signing request): the signed bytes, and the
    /// signature in DER.
    static func signed(_ bytes: [UInt8]) -> (content: [UInt8], signature: [UInt8])? {
        guard let outer = elements(bytes), outer.count == 1, outer[0].tag == 0x30,
            let parts = elements(outer[0].content), parts.count == 3, parts[2].tag == 0x03,
            parts[2].content.first == 0
        else { return nil }
        return (parts[0].encoding, Array(parts[2].content.dropFirst()))
    }

    /// Returns the first uncompressed point of P-256 in a bit string.
    static func publicKey(in bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 68 else { return nil }
        for start in 0...(bytes.count - 68) where Array(bytes[start..<start + 4]) == [0x03, 0x42, 0x00, 0x04] {
            return Array(bytes[start + 3..<start + 68])
        }
        return nil
    }

    /// Encodes an element.
    static func encode(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch content.count {
        case ..<0x80: [tag, UInt8(content.count)] + content
        case ..<0x100: [tag, 0x81, UInt8(content.count)] + content
        default: [tag, 0x82, UInt8(truncatingIfNeeded: content.count >> 8), UInt8(content.count & 0xFF)] + content
        }
    }
}
