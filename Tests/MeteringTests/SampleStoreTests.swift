import Metering
import ProtocolCore
import Testing

@Suite struct SampleStoreTests {
    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test func aRangeFindsItsChunksWholeAndInOrder() throws {
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

    @Test func theOldestGoesWhenTheStoreIsFull() throws {
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

    @Test func aSeventhOfTheStoreHoldsADayOfANoisyLoad() {
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

    @Test func restoredChunksStandBeforeNewSamples() throws {
        var before = SampleStore()
        for second in 0..<5000 as Range<Int64> { before.append(Sample(milliseconds: second * 1000, deciwatts: 2)) }
        var after = SampleStore()
        for chunk in before.chunks(from: .zero, through: at(5000)) { after.restore(chunk) }
        after.append(Sample(milliseconds: 6_000_000, deciwatts: 3))
        let samples = try after.chunks(from: .zero, through: at(7000)).flatMap { try $0.samples() }
        #expect(samples.count == 5001)
        #expect(samples.last?.deciwatts == 3)
    }
}
