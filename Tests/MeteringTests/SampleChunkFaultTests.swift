import Fuzzing
import ProtocolCore
import Testing

@testable import Metering

@Suite struct SampleChunkFaultTests {
    private static let head: [UInt8] = [0xC1, 0, 0, 2] + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 5]

    private func error(_ bytes: [UInt8]) -> SampleChunkError? {
        do {
            _ = try SampleChunk(bytes: bytes).samples()
            return nil
        } catch { return error }
    }

    @Test func theErrorSaysWhereAndWhy() {
        let head = Self.head
        // Two samples at 0 and 5 ms, both 1 W.
        let steps: [UInt8] = [0x41, 0, 5, 0b10]
        let watts: [UInt8] = [0, 20]
        #expect(error(head + [1, 0] + steps + watts) == nil)
        #expect(error([]) == SampleChunkError(.truncated, at: 0))
        #expect(error([0xC2] + head.dropFirst() + [1, 0] + steps + watts) == SampleChunkError(.unknownFormat, at: 0))
        #expect(error([0xC1, 0, 0x10, 1] + head.dropFirst(4)) == SampleChunkError(.badCount, at: 2))
        #expect(error(head.dropLast() + [0]) == SampleChunkError(.truncated, at: 20))
        #expect(
            error([0xC1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 6] + head.dropFirst(12)) == SampleChunkError(.badTime, at: 12))
        #expect(error(head + [2, 0] + steps + watts) == SampleChunkError(.badCount, at: 20))
        #expect(error(head + [0x80, 0] + steps + watts) == SampleChunkError(.badCount, at: 20))
        #expect(error(head + [1, 4] + steps + watts) == SampleChunkError(.badColumns, at: 21))
        #expect(error(head + [1, 0, 57, 0]) == SampleChunkError(.badWidth, at: 22))
        #expect(error(head + [1, 0, 0x41, 0, 1, 0b10] + watts) == SampleChunkError(.badQuantum, at: 22))
        #expect(error(head + [1, 0, 0x41, 0, 6, 0b10] + watts) == SampleChunkError(.badTime, at: 20))
        #expect(error(head + [1, 0, 0x41, 1, 5, 0b10] + watts) == SampleChunkError(.valueOutOfRange, at: 22))
        #expect(
            error(head + [1, 0] + steps + [1, 0xFE, 0xFF, 0xFF, 0xFF, 0x0F, 0b10])
                == SampleChunkError(.valueOutOfRange, at: 26))
        #expect(error(head + [1, 0, 0x81, 0, 0, 3]) == SampleChunkError(.badException, at: 25))
        #expect(error(head + [1, 0, 0x81, 0, 0, 1, 2, 1]) == SampleChunkError(.badException, at: 26))
        #expect(error(head + [1, 0, 0x81, 0, 0, 1, 1, 0]) == SampleChunkError(.badException, at: 26))
        #expect(error(head + [1, 0] + [UInt8](repeating: 0xFF, count: 12)) == SampleChunkError(.badWidth, at: 22))
        #expect(error(head + [1, 0, 0] + [UInt8](repeating: 0xFF, count: 12)) == SampleChunkError(.badInteger, at: 23))
        #expect(error(head + [1, 0] + steps + watts + [0]) == SampleChunkError(.trailingBytes, at: 28))
        #expect(error(head + [1, 0] + steps) == SampleChunkError(.truncated, at: 26))
        #expect("\(SampleChunkError(.truncated, at: 26))" == "the chunk ends too early (byte 26)")
    }

    @Test func everyPrefixOfAChunkIsRefused() throws {
        var random = SeededRandom(seed: 3)
        let samples = (0..<300).map {
            Sample(milliseconds: $0 * 1001, deciwatts: .random(in: -9...9999, using: &random), decivolts: 2300)
        }
        let bytes = encode(samples)[0].bytes
        for length in 0..<bytes.count { #expect(error(Array(bytes[..<length])) != nil, "length \(length)") }
    }

    @Test func fuzzedBytesNeverTrap() throws {
        var random = Fuzzing.random(4)
        let valid = encode(
            (0..<500).map {
                Sample(
                    milliseconds: $0 * 1000 + ($0 > 250 ? 99_999 : 0),
                    deciwatts: .random(in: 0...30_000, using: &random),
                    decivolts: .random(in: 2290...2310, using: &random), milliamperes: $0 > 300 ? nil : 5)
            })[0].bytes
        var accepted = 0
        for _ in FuzzRounds(4_000) {
            var bytes = valid
            if random.chance(0.2) {
                bytes =
                    Self.head
                    + (0..<Int.random(in: 0...200, using: &random)).map { _ in .random(in: 0...255, using: &random) }
                bytes[3] = .random(in: 0...255, using: &random)
            } else {
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                }
            }
            guard let chunk = try? SampleChunk(bytes: bytes), let samples = try? chunk.samples() else { continue }
            accepted += 1
            #expect(samples.count == chunk.count)
            // What was accepted means something: it can be written and read again.
            #expect(try encode(samples).flatMap { try $0.samples() } == samples)
        }
        // Values are free, so a changed low bit is another value and no error.
        #expect(accepted > 20)
    }
}
