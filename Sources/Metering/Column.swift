/// One column of a block during encoding: first its values, then their distances from the smallest value, then the
/// distances as multiples of a quantum. ``SampleChunk`` describes the result.
struct Column: Sendable {
    /// The values (as bit patterns), distances or multiples. Distances and multiples are below 2^63.
    private var numbers: [UInt64]
    private var packed: [UInt64]
    /// The largest distance or multiple.
    private(set) var largest: UInt64 = 0

    /// Creates a column of zeros.
    ///
    /// - Parameter count: 1 to 128.
    init(count: Int) {
        numbers = [UInt64](repeating: 0, count: count)
        packed = numbers
    }

    var count: Int { numbers.count }

    /// Stores one value per sample as its distance from the smallest value, and returns the smallest.
    ///
    /// - Parameter value: returns the value of a sample. The greatest and the smallest value must differ by less than
    ///   2^63.
    @inline(__always)
    mutating func fill(_ samples: Span<Sample>, _ value: (Sample) -> Int64) -> Int64 {
        if numbers.count != samples.count { self = Column(count: samples.count) }
        var (smallest, greatest) = (Int64.max, Int64.min)
        var values = numbers.mutableSpan
        for index in samples.indices {
            let value = value(samples[index])
            values[index] = UInt64(bitPattern: value)
            smallest = min(smallest, value)
            greatest = max(greatest, value)
        }
        for index in numbers.indices { numbers[index] &-= UInt64(bitPattern: smallest) }
        largest = UInt64(bitPattern: greatest &- smallest)
        return smallest
    }

    /// Divides all distances by their greatest common divisor and returns it. At least one distance must not be 0.
    mutating func takeOutQuantum() -> UInt64 {
        guard var quantum = numbers.first(where: { $0 != 0 }) else { return 1 }
        while quantum > 1 {
            guard let odd = divide(by: ExactDivisor(quantum)) else {
                swap(&numbers, &packed)
                largest /= quantum
                return quantum
            }
            quantum = greatestCommonDivisor(odd, quantum)
        }
        return 1
    }

    /// Divides all numbers. Returns the first number that leaves a remainder, or nil.
    private mutating func divide(by divisor: ExactDivisor) -> UInt64? {
        for index in numbers.indices {
            let quotient = divisor.quotient(numbers[index])
            guard quotient <= divisor.largestQuotient else { return numbers[index] }
            packed[index] = quotient
        }
        return nil
    }

    /// Returns the width for which the low bits and the exceptions together need the fewest bytes. An exception needs
    /// one byte for its index, and one byte per seven high bits.
    func cheapestWidth() -> (width: Int, exceptions: Int) {
        let widest = UInt64.bitWidth - largest.leadingZeroBitCount
        // The number of multiples with more bits than the index.
        var exceeding = [64 of Int](repeating: 0)
        var best = (width: widest, exceptions: 0, bytes: (widest * count + 7) / 8)
        if widest > SampleChunk.widthLimit { best.bytes = .max }
        for width in stride(from: widest - 1, through: 0, by: -1) {
            let exceptions = wider(than: width)
            exceeding[width] = exceptions
            if width > SampleChunk.widthLimit { continue }
            var cost = (width * count + 7) / 8 + 1 + exceptions
            for group in stride(from: width, to: widest, by: 7) { cost += exceeding[group] }
            if cost < best.bytes { best = (width, exceptions, cost) }
            // Smaller widths only have more exceptions, of at least two bytes each.
            if 2 * exceptions > best.bytes { break }
        }
        return (best.width, best.exceptions)
    }

    private func wider(than width: Int) -> Int {
        let largest: UInt64 = 1 &<< UInt64(width) &- 1
        var wider: UInt64 = 0
        // If the number is larger, the difference is negative and its highest bit is set. This avoids a conditional
        // branch.
        for number in numbers { wider &+= (largest &- number) &>> 63 }
        return Int(wider)
    }

    /// Packs the low bits of all numbers consecutively.
    ///
    /// - Parameter width: 1 to 56, so that a number fits into a word that contains up to seven bits of the previous
    ///   one.
    mutating func storeLowBits(_ width: Int, in output: inout MutableRawSpan, at offset: Int) {
        let mask: UInt64 = 1 &<< UInt64(width) &- 1
        for index in numbers.indices { packed[index] = numbers[index] & mask }
        // Two neighbours that fit into one number become one number of twice the width.
        var count = count
        var width = UInt64(width)
        while width <= SampleChunk.widthLimit / 2, count.isMultiple(of: 2) {
            count /= 2
            for index in 0..<count { packed[index] = packed[2 * index] | packed[2 * index + 1] &<< width }
            width *= 2
        }
        var position = offset
        var word: UInt64 = 0
        var bits: UInt64 = 0
        // Each number stores a whole word; the next one overwrites its unused part.
        for index in 0..<count {
            word |= packed[index] &<< bits
            output.storeBytes(of: word.littleEndian, toByteOffset: position, as: UInt64.self)
            bits &+= width
            position &+= Int(truncatingIfNeeded: bits &>> 3)
            word &>>= bits & 0x38
            bits &= 7
        }
    }

    /// Calls `body` for the numbers that do not fit into the width, in ascending order of their index.
    func forEachException(above width: Int, _ body: (_ index: Int, _ high: UInt64) -> Void) {
        for (index, number) in numbers.enumerated() where number >> UInt64(width) != 0 {
            body(index, number >> UInt64(width))
        }
    }
}
