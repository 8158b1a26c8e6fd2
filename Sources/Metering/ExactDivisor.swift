/// Divides many numbers by the same divisor without remainder: a multiplication with the inverse modulo 2^64 (Granlund
/// and Montgomery, "Division by Invariant Integers using Multiplication", section 9).
struct ExactDivisor {
    private let inverse: UInt64
    private let shift: UInt64
    let largestQuotient: UInt64

    /// Computes the inverse of a divisor.
    ///
    /// - Parameter value: at least 1.
    init(_ value: UInt64) {
        shift = UInt64(value.trailingZeroBitCount)
        let odd = value >> shift
        // Newton's iteration: an odd number is its own inverse in the lowest three bits, and each step doubles the
        // number of correct bits.
        var inverse = odd
        for _ in 0..<5 { inverse &*= 2 &- odd &* inverse }
        self.inverse = inverse
        largestQuotient = .max / value
    }

    /// Returns the quotient. If the number is not a multiple of the divisor, the result exceeds `largestQuotient`.
    func quotient(_ number: UInt64) -> UInt64 {
        let product = number &* inverse
        return product &>> shift | product &<< (0 &- shift)
    }
}

func greatestCommonDivisor(_ left: UInt64, _ right: UInt64) -> UInt64 {
    var (left, right) = (left, right)
    while right != 0 { (left, right) = (right, left % right) }
    return left
}
