import ProtocolCore
import Testing

@testable import Metering

/// Encodes samples into as many chunks as they need.
func encode(_ samples: [Sample]) -> [SampleChunk] {
    var encoder = SampleChunkEncoder()
    var chunks = samples.compactMap { encoder.append($0) }
    if let last = encoder.seal() { chunks.append(last) }
    return chunks
}

@Suite struct SampleChunkTests {
    @Test("A chunk has the documented bytes") func theFormatIsAsDocumented() throws {
        // Two samples of 60 W, then 0 W. The steps are 0, 1000, 1000; the column of power has the quantum 600.
        let samples = [(10_000, 600), (11_000, 600), (12_000, 0)].map { Sample(milliseconds: $0, deciwatts: $1) }
        let chunk = try #require(encode(samples).first)
        #expect(
            chunk.bytes == [
                0xC1, 0, 0, 3,  // format, three samples
                0, 0, 0, 0, 0, 0, 0x27, 0x10, 0, 0, 0, 0, 0, 0, 0x2E, 0xE0,  // 10 000 ms, 12 000 ms
                2, 0,  // a block of three, no further columns
                0x41, 0, 0xE8, 0x07, 0b110,  // one bit, reference 0, quantum 1000
                0x41, 0, 0xD8, 0x04, 0b011,  // one bit, reference 0, quantum 600
            ])
        #expect(try SampleChunk(bytes: chunk.bytes).samples() == samples)
        #expect(chunk.count == 3)
        #expect(chunk.firstMilliseconds == 10_000)
        #expect(chunk.lastMilliseconds == 12_000)
    }

    @Test("An exceptional value has the documented bytes") func anExceptionIsAsDocumented() throws {
        // 128 steps: the first is 0, one is 600 s, and the others are 1 s. The quantum is 1 s and the width is one bit.
        // The exception of 600 quanta is stored as its low bit 0 and the remaining bits 300.
        var time: Int64 = 0
        let samples = (0..<128).map { index -> Sample in
            time += index == 0 ? 0 : index == 64 ? 600_000 : 1_000
            return Sample(milliseconds: time, deciwatts: -5)
        }
        let bytes = try #require(encode(samples).first).bytes
        let low = [0xFE] + [UInt8](repeating: 0xFF, count: 7) + [0xFE] + [UInt8](repeating: 0xFF, count: 7)
        #expect(Array(bytes[20...]) == [127, 0, 0xC1, 0, 0xE8, 0x07] + low + [1, 64, 0xAC, 0x02] + [0, 9])
    }

    @Test("Constant columns take a few bytes per block") func constantsTakeAFewBytesABlock() {
        let samples = (0..<4096).map { Sample(milliseconds: Int64($0) * 1000, deciwatts: 0, decivolts: 2300) }
        let chunks = encode(samples)
        #expect(chunks.count == 1)
        #expect(chunks[0].bytes.count < 20 + 32 * 10 + 20)
    }

    @Test("Random samples are unchanged after encoding and decoding") func everySampleReturnsExactly() throws {
        for seed in 0..<40 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let samples = randomSamples(count: Int.random(in: 1...6000, using: &random), &random)
            let chunks = encode(samples)
            var decoded: [Sample] = []
            for chunk in chunks {
                let part = try SampleChunk(bytes: chunk.bytes).samples()
                #expect(part.count == chunk.count)
                #expect(part.first?.milliseconds == chunk.firstMilliseconds)
                #expect(part.last?.milliseconds == chunk.lastMilliseconds)
                #expect(chunk.bytes.count <= SampleChunkEncoder.byteLimit)
                decoded += part
            }
            #expect(decoded == samples, "seed \(seed)")
        }
    }

    @Test("The open chunk can be decoded after each sample") func theOpenChunkCanBeReadWhileItGrows() throws {
        var random = SeededRandom(seed: 1)
        let samples = (0..<700).map {
            Sample(milliseconds: $0 * 1000, deciwatts: .random(in: 0...30, using: &random))
        }
        var encoder = SampleChunkEncoder()
        #expect(encoder.chunk == nil)
        for (index, sample) in samples.enumerated() {
            #expect(encoder.append(sample) == nil)
            #expect(try encoder.chunk?.samples() == Array(samples[...index]))
        }
        #expect(encoder.seal()?.count == 700)
        #expect(encoder.seal() == nil)
    }

    @Test("A time that goes back starts a new chunk") func aClockSetBackBeginsANewChunk() throws {
        let samples = [5000, 6000, 2000, 3000].map { Sample(milliseconds: $0, deciwatts: 1) }
        let chunks = encode(samples)
        #expect(chunks.map(\.firstMilliseconds) == [5000, 2000])
        #expect(try chunks.flatMap { try $0.samples() } == samples)
    }

    @Test("Extreme values are unchanged after encoding and decoding") func extremeValuesSurvive() throws {
        let samples = [
            Sample(milliseconds: .min, deciwatts: .min, decivolts: .max, milliamperes: .max),
            Sample(milliseconds: -1, deciwatts: .max, decivolts: 0, milliamperes: 0),
            Sample(milliseconds: .max, deciwatts: 0, decivolts: 1, milliamperes: 1),
            Sample(milliseconds: .max, deciwatts: .max),
        ]
        #expect(try encode(samples).flatMap { try $0.samples() } == samples)
    }

    /// Each sample is a separate block, so that a chunk reaches its byte limit before its limit of samples.
    @Test("Alternating columns do not exceed the byte limit of a chunk")
    func aMeterThatMissesEverySecondVoltageFillsNoChunkBeyondItsLimit() throws {
        let samples = (0..<9000).map {
            Sample(milliseconds: $0 * 1000, deciwatts: 1, decivolts: $0 % 2 == 0 ? 2300 : nil)
        }
        let chunks = encode(samples)
        #expect(chunks.allSatisfy { $0.bytes.count <= SampleChunkEncoder.byteLimit })
        #expect(try chunks.flatMap { try $0.samples() } == samples)
    }

    @Test("Samples that are appended together produce the same chunks as single samples")
    func manySamplesAtOnceMakeTheSameChunks() throws {
        for seed in 0..<40 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let samples = randomSamples(count: Int.random(in: 1...12_000, using: &random), &random)
            var encoder = SampleChunkEncoder()
            var chunks: [SampleChunk] = []
            var rest = samples[...]
            while !rest.isEmpty {
                let part = rest.prefix(Int.random(in: 1...(random.chance(0.5) ? 9000 : 200), using: &random))
                rest = rest.dropFirst(part.count)
                chunks += encoder.append(contentsOf: Array(part))
            }
            if let last = encoder.seal() { chunks.append(last) }
            #expect(chunks == encode(samples), "seed \(seed)")
        }
    }

    @Test("A time step beyond 64 bits starts a new chunk")
    func aLeapThatNoStepCanSayBeginsANewChunkAlsoAmongMany() throws {
        let samples = (0..<300).map { Sample(milliseconds: $0 < 100 ? .min : .max, deciwatts: Int32($0)) }
        var encoder = SampleChunkEncoder()
        var chunks = encoder.append(contentsOf: samples)
        if let last = encoder.seal() { chunks.append(last) }
        #expect(chunks.map(\.count) == [100, 200])
        #expect(chunks == encode(samples))
        #expect(try chunks.flatMap { try $0.samples() } == samples)
    }
}
