import HomeKit
import LargeNumbers
import Testing

@Suite struct GMPArithmeticTests {
    private let numbers: GMPArithmetic

    init() throws { numbers = try GMPArithmetic() }

    @Test("Powers of small numbers are correct") func powersAreThoseOfSmallNumbers() throws {
        for base in 0..<30 {
            for exponent in 1..<20 {
                let modulus = 251
                let expected = (0..<exponent).reduce(1) { power, _ in power * base % modulus }
                for isSecret in [false, true] {
                    let power = try numbers.power(
                        [UInt8(base)], [UInt8(exponent)], modulo: [UInt8(modulus)], isSecret: isSecret)
                    #expect(power == [UInt8(expected)])
                }
            }
        }
    }

    @Test("Results have the length of the modulus") func resultsHaveTheLengthOfTheModulus() throws {
        #expect(try numbers.multiply([1, 0], [1, 0], modulo: [1, 0, 0, 1]) == [0, 1, 0, 0])
        #expect(try numbers.add([255, 255], [1], modulo: [0, 1, 0, 1]) == [0, 1, 0, 0])
        #expect(try numbers.add([], [], modulo: [0, 7]) == [0, 0])
        #expect(try numbers.reduce([1, 0, 1], modulo: [1, 0]) == [0, 1])
        #expect(try numbers.power([2], [0], modulo: [7], isSecret: false) == [1])
    }

    @Test("Fermat's little theorem holds for a prime of 521 bits") func longNumbersObeyFermat() throws {
        // 2^521 - 1 is prime.
        let prime: [UInt8] = [1] + Array(repeating: 255, count: 65)
        var exponent = prime
        exponent[65] = 254
        let base = (0..<66).map { UInt8(truncatingIfNeeded: $0 * 37 + 5) }
        let one = Array(repeating: UInt8(0), count: 65) + [1]
        #expect(try numbers.power(base, exponent, modulo: prime, isSecret: true) == one)
    }

    @Test("Numbers of the maximum length are accepted, and longer ones rejected") func theLargestNumbersFit() throws {
        let largest = Array(repeating: UInt8(255), count: ModularArithmeticLimits.bytes)
        #expect(numbers.isZero(try numbers.multiply(largest, largest, modulo: largest)))
        #expect(numbers.isZero(try numbers.power(largest, largest, modulo: largest, isSecret: true)))
        #expect(throws: HomeKitError.numberTooLong(bytes: 513)) {
            try numbers.add(largest + [0], [1], modulo: largest)
        }
    }

    @Test("Invalid moduli and exponents are errors") func invalidNumbersAreErrors() {
        #expect(throws: HomeKitError.invalidNumber) { try numbers.add([1], [1], modulo: []) }
        #expect(throws: HomeKitError.invalidNumber) { try numbers.multiply([1], [1], modulo: [0, 0]) }
        #expect(throws: HomeKitError.invalidNumber) { try numbers.power([1], [1], modulo: [8], isSecret: true) }
        #expect(throws: HomeKitError.invalidNumber) { try numbers.power([1], [0], modulo: [7], isSecret: true) }
    }

    @Test("The error for a missing library names the package") func aMissingLibraryHasAHint() {
        #expect("\(HomeKitError.noLibrary(reason: "no file"))".contains("install libgmp10"))
    }
}
