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

    @Test("Each malformed chunk is reported with the position of the wrong byte and the reason")
    func theErrorSaysWhereAndWhy() {
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

    @Test("Every prefix of a chunk is rejected") func everyPrefixOfAChunkIsRefused() throws {
        var random = SeededRandom(seed: 3)
        let samples = (0..<300).map {
            Sample(milliseconds: $0 * 1001, deciwatts: .random(in: -9...9999, using: &random), decivolts: 2300)
        }
        let bytes = encode(samples)[0].bytes
        for length in 0..<bytes.count { #expect(error(Array(bytes[..<length])) != nil, "length \(length)") }
    }
}
