import ProtocolCore
import Testing

struct SeededRandomTests {
    /// Uses the published outputs for the seed 1234567. A seed must give the same run in every version.
    @Test("The generator has the published outputs of SplitMix64") func itIsSplitMix64() {
        var random = SeededRandom(seed: 1_234_567)
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
        ]
        let drawn = expected.map { _ in random.next() }
        #expect(drawn == expected)
    }

    @Test("Random durations include both ends of their range") func durationsStayInTheirRangeAndReachBothEnds() {
        var random = SeededRandom(seed: 7)
        let range = Duration.nanoseconds(20)...Duration.nanoseconds(23)
        let drawn = Set((0..<200).map { _ in random.duration(in: range) })
        #expect(drawn == Set((20...23).map { Duration.nanoseconds($0) }))
    }

    @Test("A random choice returns true with the given probability") func aChanceIsTakenAsOftenAsItSays() {
        var random = SeededRandom(seed: 9)
        let taken = (0..<10_000).count { _ in random.chance(0.3) }
        #expect((2800...3200).contains(taken))
        let (never, always) = (random.chance(0), random.chance(1))
        #expect(!never)
        #expect(always)
    }

    @Test("A split generator does not depend on later draws of its parent")
    func aSplitGeneratorIsIndependentOfWhatIsDrawnLater() {
        var first = SeededRandom(seed: 3)
        var second = SeededRandom(seed: 3)
        var (left, right) = (first.split(), second.split())
        _ = second.next()
        let (own, other) = (left.next(), right.next())
        #expect(own == other)
    }
}
