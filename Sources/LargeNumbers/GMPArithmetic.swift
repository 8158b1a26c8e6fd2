internal import CGMP
public import HomeKit

/// Large-number arithmetic by GMP. The first call of ``init()`` loads the library.
public struct GMPArithmetic: ModularArithmetic {
    /// Loads GMP.
    ///
    /// - Throws: `HomeKitError.noLibrary` if GMP cannot be loaded.
    public init() throws(HomeKitError) {
        if let fault = smartplug_numbers_load() { throw .noLibrary(reason: String(cString: fault)) }
    }

    /// Returns base^exponent modulo the modulus. See ``ModularArithmetic``.
    public func power(
        _ base: [UInt8], _ exponent: [UInt8], modulo modulus: [UInt8], isSecret: Bool
    ) throws(HomeKitError) -> [UInt8] {
        try result(base, exponent, modulus) { smartplug_number_power($0, $1, $2, isSecret, $3) }
    }

    /// Returns the product modulo the modulus.
    public func multiply(
        _ left: [UInt8], _ right: [UInt8], modulo modulus: [UInt8]
    ) throws(HomeKitError) -> [UInt8] {
        try result(left, right, modulus) { smartplug_number_multiply($0, $1, $2, $3) }
    }

    /// Returns the sum modulo the modulus.
    public func add(_ left: [UInt8], _ right: [UInt8], modulo modulus: [UInt8]) throws(HomeKitError) -> [UInt8] {
        try result(left, right, modulus) { smartplug_number_add($0, $1, $2, $3) }
    }

    private typealias Operation = (
        smartplug_number, smartplug_number, smartplug_number, UnsafeMutablePointer<UInt8>
    ) -> Bool

    private func result(
        _ left: [UInt8], _ right: [UInt8], _ modulus: [UInt8], _ operation: Operation
    ) throws(HomeKitError) -> [UInt8] {
        for number in [left, right, modulus] where number.count > ModularArithmeticLimits.bytes {
            throw .numberTooLong(bytes: number.count)
        }
        guard !modulus.isEmpty else { throw .invalidNumber }
        var isDone = false
        let bytes = left.withUnsafeBufferPointer { left in
            right.withUnsafeBufferPointer { right in
                modulus.withUnsafeBufferPointer { modulus in
                    [UInt8](unsafeUninitializedCapacity: modulus.count) { room, count in
                        guard let place = room.baseAddress else { return }
                        isDone = operation(
                            smartplug_number(bytes: left.baseAddress, count: left.count),
                            smartplug_number(bytes: right.baseAddress, count: right.count),
                            smartplug_number(bytes: modulus.baseAddress, count: modulus.count), place)
                        count = isDone ? modulus.count : 0
                    }
                }
            }
        }
        guard isDone else { throw .invalidNumber }
        return bytes
    }
}
