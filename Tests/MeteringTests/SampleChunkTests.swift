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
    @Test func theFormatIsAsDocumented() throws {
        // Two seconds of 60 W, then 0 W: steps 0, 1000, 1000; the column of power has the quantum 600.
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

    @Test func anExceptionIsAsDocumented() throws {
        // 128 steps of 1 s with one gap of 600 s: width 1 (0 and 1000), and n = 600 as 300 above the low bit.
        var time: Int64 = 0
        let samples = (0..<128).map { index -> Sample in
            time += index == 0 ? 0 : index == 64 ? 600_000 : 1_000
            return Sample(milliseconds: time, deciwatts: -5)
        }
        let bytes = try #require(encode(samples).first).bytes
        let low = [0xFE] + [UInt8](repeating: 0xFF, count: 7) + [0xFE] + [UInt8](repeating: 0xFF, count: 7)
        #expect(Array(bytes[20...]) == [127, 0, 0xC1, 0, 0xE8, 0x07] + low + [1, 64, 0xAC, 0x02] + [0, 9])
    }

    @Test func constantsTakeAFewBytesABlock() {
        let samples = (0..<4096).map { Sample(milliseconds: Int64($0) * 1000, deciwatts: 0, decivolts: 2300) }
        let chunks = encode(samples)
        #expect(chunks.count == 1)
        #expect(chunks[0].bytes.count < 20 + 32 * 10 + 20)
    }

    @Test func everySampleReturnsExactly() throws {
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

    @Test func theOpenChunkCanBeReadWhileItGrows() throws {
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

    @Test func aClockSetBackBeginsANewChunk() throws {
        let samples = [5000, 6000, 2000, 3000].map { Sample(milliseconds: $0, deciwatts: 1) }
        let chunks = encode(samples)
        #expect(chunks.map(\.firstMilliseconds) == [5000, 2000])
        #expect(try chunks.flatMap { try $0.samples() } == samples)
    }

    @Test func extremeValuesSurvive() throws {
        let samples = [
            Sample(milliseconds: .min, deciwatts: .min, decivolts: .max, milliamperes: .max),
            Sample(milliseconds: -1, deciwatts: .max, decivolts: 0, milliamperes: 0),
            Sample(milliseconds: .max, deciwatts: 0, decivolts: 1, milliamperes: 1),
            Sample(milliseconds: .max, deciwatts: .max),
        ]
        #expect(try encode(samples).flatMap { try $0.samples() } == samples)
    }

    /// A mixture of what meters and radios do: steady, ramps, noise, spikes, gaps, clocks set back, missing columns.
    private func randomSamples(count: Int, _ random: inout SeededRandom) -> [Sample] {
        var time = Int64.random(in: -1_000_000...1_000_000_000_000, using: &random)
        var watts: Int32 = 0
        var mode = 0
        var hasVolts = random.chance(0.5)
        var hasAmperes = random.chance(0.5)
        return (0..<count).map { _ in
            if random.chance(0.01) { mode = .random(in: 0...4, using: &random) }
            if random.chance(0.002) { hasVolts.toggle() }
            if random.chance(0.002) { hasAmperes.toggle() }
            time += random.chance(0.002) ? .random(in: -5000...100_000_000, using: &random) : 1000
            switch mode {
            case 0: watts = 0
            case 1: watts += 7
            case 2: watts = .random(in: 1300...1350, using: &random)
            case 3: watts = random.chance(0.03) ? .random(in: .min ... .max, using: &random) : 20
            default: time += .random(in: 0...3, using: &random)
            }
            watts = max(-1_000_000, min(1_000_000_000, watts))
            return Sample(
                milliseconds: time, deciwatts: watts,
                decivolts: hasVolts ? .random(in: 2280...2320, using: &random) : nil,
                milliamperes: hasAmperes ? .random(in: 0...100_000, using: &random) : nil)
        }
    }
}
