import Metering
import ProtocolCore
import Testing

@Suite struct SampleStoreTests {
    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test("The chunks that overlap a range are returned in order and untrimmed")
    func aRangeFindsItsChunksWholeAndInOrder() throws {
        var store = SampleStore()
        for second in 0..<10_000 as Range<Int64> { store.append(Sample(milliseconds: second * 1000, deciwatts: 1)) }
        #expect(store.count == 10_000)
        let all = try store.chunks(from: .zero, through: at(10_000)).map { try $0.samples() }
        #expect(all.map(\.count) == [4096, 4096, 1808])
        #expect(all.joined().map(\.milliseconds) == (0..<10_000).map { $0 * 1000 })
        #expect(store.chunks(from: at(4095), through: at(4096)).map(\.firstMilliseconds) == [0, 4_096_000])
        #expect(store.chunks(from: at(9_999), through: at(20_000)).map(\.firstMilliseconds) == [8_192_000])
        #expect(store.chunks(from: at(10_000), through: at(20_000)).isEmpty)
        #expect(store.chunks(from: at(5), through: at(4)).isEmpty)
    }

    @Test("The store knows the newest time in an open and in a sealed chunk")
    func theNewestSampleIsKnownInAnOpenChunkAndInASealedOne() throws {
        var store = SampleStore()
        #expect(store.lastMilliseconds == nil)
        for second in 0..<4097 as Range<Int64> { store.append(Sample(milliseconds: second * 1000, deciwatts: 1)) }
        #expect(store.lastMilliseconds == 4_096_000)
        let sealed = try #require(store.chunks(from: .zero, through: at(1)).first)
        var restored = SampleStore()
        restored.restore(sealed)
        #expect(restored.lastMilliseconds == 4_095_000)
    }

    @Test("A full store drops its oldest samples") func theOldestGoesWhenTheStoreIsFull() throws {
        var store = SampleStore(byteLimit: 50_000)
        var random = SeededRandom(seed: 5)
        for second in 0..<200_000 as Range<Int64> {
            store.append(Sample(milliseconds: second * 1000, deciwatts: .random(in: 0...4095, using: &random)))
        }
        #expect(store.byteCount <= 50_000 + SampleChunkEncoder.byteLimit + 4096)
        let kept = try store.chunks(from: .zero, through: at(200_000)).flatMap { try $0.samples() }
        #expect(kept.last?.milliseconds == 199_999_000)
        #expect(kept.count > 20_000)
        #expect(zip(kept, kept.dropFirst()).allSatisfy { $1.milliseconds - $0.milliseconds == 1000 })
    }

    @Test("A seventh of the store's default size holds a day of a noisy load")
    func aSeventhOfTheStoreHoldsADayOfANoisyLoad() {
        let limit = SampleStore.defaultByteLimit / 7
        var store = SampleStore(byteLimit: limit)
        var random = SeededRandom(seed: 6)
        let samples = 86_400
        for second in 0..<Int64(samples) {
            store.append(
                Sample(
                    milliseconds: second * 1000 + .random(in: 0...1, using: &random),
                    deciwatts: .random(in: 1250...1350, using: &random),
                    decivolts: .random(in: 2297...2303, using: &random),
                    milliamperes: .random(in: 540...585, using: &random)))
        }
        #expect(store.count == samples)
        #expect(store.byteCount < limit)
    }

    @Test("Restored chunks precede new samples") func restoredChunksStandBeforeNewSamples() throws {
        var before = SampleStore()
        for second in 0..<5000 as Range<Int64> { before.append(Sample(milliseconds: second * 1000, deciwatts: 2)) }
        var after = SampleStore()
        for chunk in before.chunks(from: .zero, through: at(5000)) { after.restore(chunk) }
        after.append(Sample(milliseconds: 6_000_000, deciwatts: 3))
        let samples = try after.chunks(from: .zero, through: at(7000)).flatMap { try $0.samples() }
        #expect(samples.count == 5001)
        #expect(samples.last?.deciwatts == 3)
    }

    /// Simulates a controller that fetches at random times, each time the samples after its last one.
    @Test("Successive fetches return every sample exactly once") func successiveFetchesGiveEverySampleOnce() throws {
        for seed in 0..<30 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var store = SampleStore(byteLimit: .max)
            var time: Int64 = 0
            var kept: [Sample] = []
            var fetched: [Sample] = []
            for _ in 0..<40 {
                for _ in 0..<Int.random(in: 0...700, using: &random) {
                    time += random.chance(0.01) ? .random(in: 1...600_000, using: &random) : 1000
                    kept.append(Sample(milliseconds: time, deciwatts: .random(in: 0...999, using: &random)))
                    store.append(kept[kept.count - 1])
                }
                guard random.chance(0.5) else { continue }
                let from = Instant(nanoseconds: ((fetched.last?.milliseconds ?? -1) + 1) * 1_000_000)
                let now = Instant(nanoseconds: time * 1_000_000)
                fetched += try store.chunks(from: from, through: now).flatMap {
                    try $0.samples(from: from, through: now)
                }
                #expect(fetched == kept, "seed \(seed)")
            }
        }
    }

    @Test("The chunks of a range, trimmed to the range, contain exactly its samples")
    func aRangeIsExactOnceItsChunksAreTrimmed() throws {
        var random = SeededRandom(seed: 8)
        var store = SampleStore(byteLimit: .max)
        var kept: [Sample] = []
        for second in 0..<9_000 as Range<Int64> {
            kept.append(
                Sample(milliseconds: second * 1000 + .random(in: 0...999, using: &random), deciwatts: Int32(second)))
            store.append(kept[kept.count - 1])
        }
        for _ in 0..<100 {
            let first = Instant(nanoseconds: .random(in: -1_000_000_000...9_100_000_000_000, using: &random))
            let last = Instant(nanoseconds: .random(in: -1_000_000_000...9_100_000_000_000, using: &random))
            let found = try store.chunks(from: first, through: last)
                .flatMap { try $0.samples(from: first, through: last) }
            // The time of a sample and the start of the range are both rounded down to a millisecond.
            #expect(found == kept.filter { first <= $0.time + .nanoseconds(999_999) && $0.time <= last })
        }
    }
}
