import ProtocolCore
import Testing

@testable import Metering

@Suite struct ExactDivisorTests {
    @Test("Multiples are divided exactly, and a number that is not a multiple is recognized as such")
    func multiplesAreDividedAndOthersRecognised() {
        var random = SeededRandom(seed: 11)
        let chosen: [UInt64] = [1, 2, 3, 10, 600, 1000, 1 << 62, 1 << 63, .max, .max - 1]
        let drawn = (0..<500 as Range<UInt64>).map { .random(in: 1 ... .max >> ($0 % 64), using: &random) } as [UInt64]
        for value in chosen + drawn {
            let divisor = ExactDivisor(value)
            var numbers: [UInt64] = [0, 1, value, value &+ 1, value &- 1, value &* 2, .max]
            for _ in 0..<20 {
                numbers.append(.random(in: 0 ... .max, using: &random))
                numbers.append(value * .random(in: 0 ... .max / value, using: &random))
            }
            for number in numbers {
                let quotient = divisor.quotient(number)
                #expect((quotient <= divisor.largestQuotient) == number.isMultiple(of: value), "\(number) / \(value)")
                if number.isMultiple(of: value) { #expect(quotient == number / value, "\(number) / \(value)") }
            }
        }
    }

    @Test("The greatest common divisor is correct") func theGreatestCommonDivisorIsThatOfEuclid() {
        #expect(greatestCommonDivisor(0, 7) == 7)
        #expect(greatestCommonDivisor(1000, 2600) == 200)
        #expect(greatestCommonDivisor(.max, 3) == 3)
    }
}
