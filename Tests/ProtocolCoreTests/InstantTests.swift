import ProtocolCore
import Testing

struct InstantTests {
    @Test("Arithmetic is exact to the nanosecond") func arithmeticIsExactToTheNanosecond() {
        let start = Instant(nanoseconds: 5)
        #expect(start + .nanoseconds(3) == Instant(nanoseconds: 8))
        #expect(start - .seconds(1) == Instant(nanoseconds: 5 - 1_000_000_000))
        #expect(Instant(nanoseconds: 8) - start == .nanoseconds(3))
        #expect(start < start + .nanoseconds(1))
    }

    @Test("Arithmetic that overflows returns the earliest or the latest instant")
    func aDeadlineForEverSaturatesInsteadOfTrapping() {
        #expect(Instant(nanoseconds: .max) + .seconds(1) == Instant(nanoseconds: .max))
        #expect(Instant(nanoseconds: .min) - .seconds(1) == Instant(nanoseconds: .min))
        #expect(Instant.zero + .seconds(Int64.max) == Instant(nanoseconds: .max))
    }

    @Test("The difference between the earliest and the latest instant does not overflow")
    func theSpanBetweenTheEndsOfTimeIsADuration() {
        let span = Instant(nanoseconds: .max) - Instant(nanoseconds: .min)
        #expect(span > .seconds(18_000_000_000))
        #expect(span.wholeNanoseconds == .max)
    }

    @Test(
        "Whole nanoseconds are clamped to 64 bits",
        arguments: [
            (Duration.seconds(1), Int64(1_000_000_000)), (.zero - .milliseconds(1), -1_000_000), (.zero, 0),
            (.nanoseconds(Int64.max), .max), (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
        ])
    func wholeNanosecondsAreClamped(duration: Duration, expected: Int64) {
        #expect(duration.wholeNanoseconds == expected)
    }

    @Test("A duration is converted to seconds") func secondsAsANumber() {
        #expect(Duration.milliseconds(1500).inSeconds == 1.5)
        #expect((.zero - Duration.milliseconds(250)).inSeconds == -0.25)
    }

    @Test("The earlier of two deadlines is returned, and nil means no deadline")
    func theSoonerOfTwoDeadlinesTakesNilForNever() {
        let (early, late) = (Instant(nanoseconds: 1), Instant(nanoseconds: 2))
        #expect(sooner(early, late) == early)
        #expect(sooner(late, early) == early)
        #expect(sooner(nil, late) == late)
        #expect(sooner(early, nil) == early)
        #expect(sooner(nil, nil) == nil)
    }
}
