/// Encodes the content of a database cell: varints as in a sample chunk (seven bits per byte, least significant first),
/// zigzag numbers and UTF-8 texts.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func appendZigzag(_ value: Int64) {
        appendVarint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    mutating func appendText(_ text: String) {
        appendVarint(UInt64(text.utf8.count))
        append(text.utf8)
    }

    /// Appends the CRC-32 of all previous bytes, big endian.
    mutating func seal() {
        let sum = Checksum.crc32(bytes)
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: sum >> shift)) }
    }
}

/// A database cell whose bytes are damaged or cannot be decoded.
struct CellDamage: Error {}

/// Decodes the output of ``ByteWriter``. It never reads outside the bytes.
struct ByteReader {
    private let bytes: [UInt8]
    private(set) var position = 0
    private let end: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        end = bytes.count
    }

    /// Verifies the checksum of ``ByteWriter/seal()`` and removes it.
    init(sealed bytes: [UInt8]) throws(CellDamage) {
        guard bytes.count >= 4 else { throw CellDamage() }
        let sum = bytes.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard Checksum.crc32(bytes.dropLast(4)) == sum else { throw CellDamage() }
        self.bytes = bytes
        end = bytes.count - 4
    }

    var isAtEnd: Bool { position == end }

    mutating func byte() throws(CellDamage) -> UInt8 {
        guard position < end else { throw CellDamage() }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func bytes(_ count: Int) throws(CellDamage) -> ArraySlice<UInt8> {
        guard count <= end - position else { throw CellDamage() }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func varint() throws(CellDamage) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while position < end {
            let byte = bytes[position]
            position += 1
            guard shift < 63 || byte < 2 else { break }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
            guard shift < 64 else { break }
        }
        throw CellDamage()
    }

    mutating func zigzag() throws(CellDamage) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func text() throws(CellDamage) -> String {
        let count = try varint()
        guard count <= UInt64(end - position) else { throw CellDamage() }
        return String(decoding: try bytes(Int(count)), as: UTF8.self)
    }
}
