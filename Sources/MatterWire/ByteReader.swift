/// Reads the little-endian fields of a header.
struct ByteReader {
    /// The bytes that are not read yet.
    private(set) var rest: ArraySlice<UInt8>
    private let name: String

    /// Creates a reader.
    ///
    /// - Parameter name: the name of the format for errors.
    init(_ bytes: ArraySlice<UInt8>, _ name: String) { (rest, self.name) = (bytes, name) }

    /// Reads an integer.
    mutating func integer<N: FixedWidthInteger & UnsignedInteger>(_ type: N.Type) throws(MatterError) -> N {
        let field = try bytes(N.bitWidth / 8)
        return field.reversed().reduce(0) { $0 << 8 | N($1) }
    }

    /// Reads so many bytes.
    @discardableResult
    mutating func bytes(_ count: Int) throws(MatterError) -> ArraySlice<UInt8> {
        guard rest.count >= count else { throw .invalid("\(name): it ends too early") }
        let field = rest.prefix(count)
        rest = rest.dropFirst(count)
        return field
    }
}

extension [UInt8] {
    /// Appends an integer in little-endian order.
    mutating func append(littleEndian number: some FixedWidthInteger) {
        for index in 0..<number.bitWidth / 8 { append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }
}
