/// Writes one column of a block, as ``SampleChunk`` describes it. The scratch memory is kept from block to block.
struct ColumnEncoder: Sendable {
    private var multiples: [UInt64] = []

    init() { multiples.reserveCapacity(SampleChunk.blockLimit) }

    /// - Parameter values: 1 to 128 of them, whose span is below 2^63.
    mutating func encode(_ values: [Int64], into bytes: inout [UInt8]) {
        var reference = values[0]
        for value in values { reference = min(reference, value) }
        multiples.removeAll(keepingCapacity: true)
        var union: UInt64 = 0
        for value in values {
            let offset = UInt64(bitPattern: value &- reference)
            union |= offset
            multiples.append(offset)
        }
        guard union != 0 else {
            bytes.append(0)
            bytes.appendZigzag(reference)
            return
        }
        let quantum = takeOutQuantum(union: union)
        let (width, exceptions) = cheapestWidth()
        bytes.append(UInt8(width) | (quantum > 1 ? 0x40 : 0) | (exceptions > 0 ? 0x80 : 0))
        bytes.appendZigzag(reference)
        if quantum > 1 { bytes.appendVarint(quantum) }
        appendLowBits(width, into: &bytes)
        if exceptions > 0 { appendExceptions(exceptions, above: width, into: &bytes) }
    }

    /// Divides all offsets by their greatest common divisor and returns it.
    private mutating func takeOutQuantum(union: UInt64) -> UInt64 {
        var divisor = Divisor(1, largest: union)
        var isFirst = true
        for offset in multiples where offset != 0 && (isFirst || !divisor.divides(offset)) {
            divisor = Divisor(isFirst ? offset : greatestCommonDivisor(offset, divisor.value), largest: union)
            isFirst = false
            if divisor.value == 1 { return 1 }
        }
        for index in multiples.indices { multiples[index] = divisor.quotient(multiples[index]) }
        return divisor.value
    }

    /// The width at which low bits and exceptions together are fewest. An exception costs its index and its high bits in
    /// groups of seven.
    private func cheapestWidth() -> (width: Int, exceptions: Int) {
        var counts = [64 of Int](repeating: 0)
        var widest = 0
        for multiple in multiples {
            let width = UInt64.bitWidth - multiple.leadingZeroBitCount
            counts[width] += 1
            widest = max(widest, width)
        }
        var best = (width: min(widest, 56), exceptions: 0, bytes: Int.max)
        for width in stride(from: min(widest, 56), through: 0, by: -1) {
            var exceptions = 0
            var cost = (width * multiples.count + 7) / 8
            for wider in width + 1..<max(widest + 1, width + 1) {
                exceptions += counts[wider]
                cost += counts[wider] * (1 + (wider - width + 6) / 7)
            }
            if exceptions > 0 { cost += 1 }
            if cost < best.bytes { best = (width, exceptions, cost) }
            // Narrower still, there are only more of them, of at least two bytes each.
            if 2 * exceptions > best.bytes { break }
        }
        return (best.width, best.exceptions)
    }

    private func appendExceptions(_ number: Int, above width: Int, into bytes: inout [UInt8]) {
        bytes.append(UInt8(number))
        for (index, multiple) in multiples.enumerated() where multiple >> UInt64(width) != 0 {
            bytes.append(UInt8(index))
            bytes.appendVarint(multiple >> UInt64(width))
        }
    }

    private func appendLowBits(_ width: Int, into bytes: inout [UInt8]) {
        guard width > 0 else { return }
        let mask: UInt64 = 1 << UInt64(width) - 1
        var pending: UInt64 = 0
        var bits = 0
        for multiple in multiples {
            pending |= (multiple & mask) << UInt64(bits)
            bits += width
            while bits >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: pending))
                pending >>= 8
                bits -= 8
            }
        }
        if bits > 0 { bytes.append(UInt8(truncatingIfNeeded: pending)) }
    }
}

/// Divides many numbers by the same one. Below 2^32 a multiplication with the reciprocal is exact and several times faster
/// than a division.
private struct Divisor {
    let value: UInt64
    private let reciprocal: Double
    private let isSmall: Bool

    init(_ value: UInt64, largest: UInt64) {
        self.value = value
        reciprocal = 1 / Double(value)
        isSmall = largest < 1 << 32
    }

    func divides(_ number: UInt64) -> Bool {
        isSmall ? quotient(number) * value == number : number.isMultiple(of: value)
    }

    /// Exact for multiples of the divisor, and rounded for others.
    func quotient(_ number: UInt64) -> UInt64 {
        isSmall ? UInt64(Int64(Double(Int64(number)) * reciprocal + 0.5)) : number / value
    }
}

private func greatestCommonDivisor(_ left: UInt64, _ right: UInt64) -> UInt64 {
    var (left, right) = (left, right)
    while right != 0 { (left, right) = (right, left % right) }
    return left
}

extension [UInt8] {
    mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    mutating func appendZigzag(_ value: Int64) {
        appendVarint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }
}
