/// Arithmetic with large numbers for SRP: big-endian bytes of at most ``ModularArithmeticLimits/bytes``. The machine
/// receives an implementation as a value, so that this module loads no library.
///
/// Each result has as many bytes as the modulus, with leading zeros.
public protocol ModularArithmetic: Sendable {
    /// Returns base^exponent modulo the modulus.
    ///
    /// - Parameter isSecret: true if the time must not depend on the exponent. The modulus must then be odd and the
    ///   exponent nonzero.
    func power(_ base: [UInt8], _ exponent: [UInt8], modulo modulus: [UInt8], isSecret: Bool)
        throws(ArithmeticFault) -> [UInt8]
    /// Returns the product modulo the modulus.
    func multiply(_ left: [UInt8], _ right: [UInt8], modulo modulus: [UInt8]) throws(ArithmeticFault) -> [UInt8]
    /// Returns the sum modulo the modulus.
    func add(_ left: [UInt8], _ right: [UInt8], modulo modulus: [UInt8]) throws(ArithmeticFault) -> [UInt8]
}

extension ModularArithmetic {
    /// Returns the number modulo the modulus.
    public func reduce(_ number: [UInt8], modulo modulus: [UInt8]) throws(ArithmeticFault) -> [UInt8] {
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

/// The reasons why an operation has no result.
public enum ArithmeticFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The library cannot be loaded.
    case noLibrary(reason: String)
    /// A number has too many bytes.
    case tooLong(bytes: Int)
    /// The modulus is zero; or, with a secret exponent, the modulus is even or the exponent is zero.
    case invalidNumber

    public var description: String {
        switch self {
        case .noLibrary(let reason): "the library for large numbers cannot be loaded: \(reason)\nhint: install libgmp10"
        case .tooLong(let bytes): "a number has \(bytes) bytes; at most \(ModularArithmeticLimits.bytes) are possible"
        case .invalidNumber: "the modulus is zero, or not odd with a secret exponent, or that exponent is zero"
        }
    }
}
