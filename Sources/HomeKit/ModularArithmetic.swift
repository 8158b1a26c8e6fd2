/// Arithmetic with large numbers for SRP. A number is a list of big-endian bytes, at most
/// ``ModularArithmeticLimits/bytes`` long. The machine receives an implementation as a value, so that this module loads
/// no library.
///
/// Each result has as many bytes as the modulus, with leading zeros.
public protocol ModularArithmetic: Sendable {
    /// Returns base^exponent modulo the modulus.
    ///
    /// - Parameter isSecret: true if the time must not depend on the exponent. The modulus must then be odd and the
    ///   exponent nonzero.
    func power(_ base: [UInt8], _ exponent: [UInt8], modulo modulus: [UInt8], isSecret: Bool)
        throws(HomeKitError) -> [UInt8]
    /// Returns the product modulo the modulus.
    func multiply(_ left: [UInt8], _ right: [UInt8], modulo modulus: [UInt8]) throws(HomeKitError) -> [UInt8]
    /// Returns the sum modulo the modulus.
    func add(_ left: [UInt8], _ right: [UInt8], modulo modulus: [UInt8]) throws(HomeKitError) -> [UInt8]
}

extension ModularArithmetic {
    /// Returns the number modulo the modulus.
    public func reduce(_ number: [UInt8], modulo modulus: [UInt8]) throws(HomeKitError) -> [UInt8] {
        try add(number, [], modulo: modulus)
    }

    /// Returns true if all bytes are zero.
    public func isZero(_ number: [UInt8]) -> Bool { number.reduce(0, |) == 0 }
}

/// The limits of ``ModularArithmetic``.
public enum ModularArithmeticLimits {
    /// The limit of a number in bytes, which bounds the processor time that a peer can cause.
    public static let bytes = 512
}
