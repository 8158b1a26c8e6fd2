import Metering
import ProtocolCore
import Testing

@Suite struct EnergyCounterTests {
    private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

    @Test func aKilowattForAnHourIsAKilowattHour() {
        var counter = EnergyCounter()
        for second in 0...3600 { counter.add(deciwatts: 10_000, at: at(Double(second))) }
        #expect(counter.milliwattHours == 1_000_000)
    }

    @Test func powerBetweenTwoMeasurementsIsTheirMean() {
        var counter = EnergyCounter()
        counter.add(deciwatts: 0, at: at(0))
        counter.add(deciwatts: 72_000, at: at(2))
        // 3600 W in the mean for 2 s are 2 Wh.
        #expect(counter.milliwattHours == 2_000)
    }

    @Test func remaindersAreKeptExactly() {
        var counter = EnergyCounter()
        // 0.1 W in irregular steps of three nanoseconds' fraction: 36 000 s x 0.1 W = 1 Wh, without a loss anywhere.
        var time: Int64 = 0
        counter.add(deciwatts: 1, at: Instant(nanoseconds: 0))
        while time < 36_000_000_000_000 {
            time = min(time + 999_999_997, 36_000_000_000_000)
            counter.add(deciwatts: 1, at: Instant(nanoseconds: time))
        }
        #expect(counter.milliwattHours == 1_000)
    }

    @Test func aGapIsNotIntegrated() {
        var counter = EnergyCounter(milliwattHours: 5, gapLimit: .seconds(30))
        counter.add(deciwatts: 36_000, at: at(0))
        counter.add(deciwatts: 36_000, at: at(30))
        #expect(counter.milliwattHours == 5 + 30_000)
        counter.add(deciwatts: 36_000, at: at(60.001))
        #expect(counter.milliwattHours == 5 + 30_000)
    }

    @Test func itOnlyRises() {
        var counter = EnergyCounter(milliwattHours: 7)
        counter.add(deciwatts: -36_000, at: at(0))
        counter.add(deciwatts: -36_000, at: at(10))
        #expect(counter.milliwattHours == 7)
        counter.add(deciwatts: 36_000, at: at(5))
        #expect(counter.milliwattHours == 7)
        counter.add(deciwatts: 36_000, at: at(6))
        #expect(counter.milliwattHours == 1_007)
    }

    @Test func extremesSaturate() {
        var counter = EnergyCounter(milliwattHours: .max - 1, gapLimit: .seconds(1_000_000_000))
        counter.add(deciwatts: .max, at: .zero)
        counter.add(deciwatts: .max, at: Instant(nanoseconds: .max))
        #expect(counter.milliwattHours == UInt64.max - 1)
        counter.add(deciwatts: .max, at: Instant(nanoseconds: .max))
        var other = EnergyCounter(milliwattHours: .max - 1, gapLimit: .seconds(1_000_000_000))
        other.add(deciwatts: .max, at: .zero)
        other.add(deciwatts: .max, at: at(900_000_000))
        #expect(other.milliwattHours == UInt64.max)
    }

    @Test func measurementsRoundToTheResolutionThatIsKept() {
        #expect(
            Measurement(watts: 59.96, volts: 229.949, amperes: 0.26051)
                == Measurement(deciwatts: 600, decivolts: 2299, milliamperes: 261))
        #expect(Measurement(watts: -1.25)?.deciwatts == -13)
        #expect(Measurement(watts: .nan) == nil)
        #expect(Measurement(watts: .infinity) == nil)
        #expect(Measurement(watts: 1, volts: -1) == nil)
        #expect(Measurement(watts: 1, volts: 230, amperes: 5e6) == nil)
    }

    @Test func sampleTimesAreCutToMilliseconds() {
        let measurement = Measurement(deciwatts: 1)
        #expect(Sample(measurement, at: Instant(nanoseconds: 1_999_999)).milliseconds == 1)
        #expect(Sample(measurement, at: Instant(nanoseconds: -1)).milliseconds == -1)
        #expect(Sample(milliseconds: .max, deciwatts: 0).time == Instant(nanoseconds: .max))
        #expect(Sample(milliseconds: -3, deciwatts: 0).time == Instant(nanoseconds: -3_000_000))
    }
}
