/// Encodes an integer field of Protocol Buffers. Only the hostile peers of the benchmarks use the functions of this
/// file.
func wireNumber(_ field: Int, _ value: UInt64) -> [UInt8] { varint(UInt64(field << 3)) + varint(value) }

func wireBytes(_ field: Int, _ value: [UInt8]) -> [UInt8] {
    varint(UInt64(field << 3 | 2)) + varint(UInt64(value.count)) + value
}

func wireFrame(_ body: [UInt8]) -> [UInt8] {
    (0..<4).reversed().map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) } + body
}

func randomBytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: .min ... .max) } }

private func varint(_ value: UInt64) -> [UInt8] {
    var (bytes, rest) = ([UInt8](), value)
    while rest >= 0x80 {
        bytes.append(UInt8(rest & 0x7F) | 0x80)
        rest >>= 7
    }
    return bytes + [UInt8(rest)]
}
