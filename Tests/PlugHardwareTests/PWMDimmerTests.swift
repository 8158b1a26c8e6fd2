import Synchronization
import Testing

@testable import PlugHardware

@Suite struct PWMDimmerTests {
    private final class Channel: PWMChannel {
        let period: UInt64
        let active = Mutex<UInt64?>(nil)

        init(period: UInt64) { self.period = period }

        func set(activeFor nanoseconds: UInt64) { active.withLock { $0 = nanoseconds } }
    }

    private func times(minimum: Double, gamma: Double, period: UInt64 = 1_000_000) throws -> [UInt64] {
        let channel = Channel(period: period)
        let dimmer = PWMDimmer(channel, minimum: minimum, gamma: gamma)
        return try (0...1000).map { permille in
            try dimmer.set(fraction: Double(permille) / 1000)
            return try #require(channel.active.withLock { $0 })
        }
    }

    @Test(
        "The active time rises with the level from the minimum to the period",
        arguments: [0, 0.05, 0.3, 0.99], [0.25, 1, 2.2, 2.8, 4])
    func theActiveTimeRisesWithTheLevelFromTheMinimumToThePeriod(minimum: Double, gamma: Double) throws {
        let times = try times(minimum: minimum, gamma: gamma)
        #expect(times[0] == 0)
        #expect(times[1] >= max(1, UInt64(minimum * 1_000_000)))
        #expect(times[1000] == 1_000_000)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test("Without minimum and gamma, the active time is proportional to the level")
    func withoutMinimumAndGammaTheTimeIsTheLevel() throws {
        #expect(try times(minimum: 0, gamma: 1) == (0...1000).map { UInt64($0) * 1000 })
    }

    /// The expected shares of the period are 0.1 + 0.9 · level^2.2, computed with a different program.
    @Test("Minimum and gamma follow the formula") func theMinimumAndTheGammaAreAsWritten() throws {
        let times = try times(minimum: 0.1, gamma: 2.2, period: 1_000_000_000)
        #expect(times[500] == 295_873_877)
        #expect(times[100] == 105_678_616)
    }

    @Test("A level above zero is never rounded to off") func whatIsOnIsNeverRoundedToOff() throws {
        #expect(try times(minimum: 0, gamma: 4, period: 1000)[1] == 1)
    }

    @Test(
        "Fractions out of range are clamped",
        arguments: zip([-1, -0.0, .nan, 1.5, .infinity] as [Double], [0, 0, 0, 1000, 1000] as [UInt64]))
    func fractionsOutsideAreClamped(fraction: Double, time: UInt64) {
        #expect(PWMDimmer(Channel(period: 1000), minimum: 0, gamma: 1).activeTime(at: fraction) == time)
    }

    @Test("Powers with whole and fractional exponents are computed correctly") func powersAreThoseOfArithmetic() {
        #expect(raise(0.5, to: 3) == 0.125)
        #expect(raise(0.25, to: 0.5) == 0.5)
        #expect(raise(0.25, to: 1.5) == 0.125)
        #expect(raise(1, to: 2.2) == 1)
        #expect(raise(0, to: 2.2) == 0)
        #expect(raise(0.3, to: 0) == 1)
    }
}
