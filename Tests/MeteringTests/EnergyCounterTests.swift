import Metering
import ProtocolCore
import Testing

@Suite struct EnergyCounterTests {
    private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

    @Test("1 kW for an hour is 1 kWh") func aKilowattForAnHourIsAKilowattHour() {
        var counter = EnergyCounter()
        for second in 0...3600 { counter.add(deciwatts: 10_000, at: at(Double(second))) }
        #expect(counter.milliwattHours == 1_000_000)
    }

    @Test("The power between two measurements is their mean") func powerBetweenTwoMeasurementsIsTheirMean() {
        var counter = EnergyCounter()
        counter.add(deciwatts: 0, at: at(0))
        counter.add(deciwatts: 72_000, at: at(2))
        // A mean of 3600 W for 2 s is 2 Wh.
        #expect(counter.milliwattHours == 2_000)
    }

    @Test("Remainders below the resolution are accumulated exactly") func remaindersAreKeptExactly() {
        var counter = EnergyCounter()
        // 0.1 W for 36,000 s is 1 Wh. The steps are 3 ns shorter than a second, so that each has a remainder.
        var time: Int64 = 0
        counter.add(deciwatts: 1, at: Instant(nanoseconds: 0))
        while time < 36_000_000_000_000 {
            time = min(time + 999_999_997, 36_000_000_000_000)
            counter.add(deciwatts: 1, at: Instant(nanoseconds: time))
        }
        #expect(counter.milliwattHours == 1_000)
    }

    @Test("A gap above the limit adds no energy") func aGapIsNotIntegrated() {
        var counter = EnergyCounter(milliwattHours: 5, gapLimit: .seconds(30))
        counter.add(deciwatts: 36_000, at: at(0))
        counter.add(deciwatts: 36_000, at: at(30))
        #expect(counter.milliwattHours == 5 + 30_000)
        counter.add(deciwatts: 36_000, at: at(60.001))
        #expect(counter.milliwattHours == 5 + 30_000)
    }

    @Test("Negative power and a time that goes back do not decrease the counter") func itOnlyRises() {
        var counter = EnergyCounter(milliwattHours: 7)
        counter.add(deciwatts: -36_000, at: at(0))
        counter.add(deciwatts: -36_000, at: at(10))
        #expect(counter.milliwattHours == 7)
        counter.add(deciwatts: 36_000, at: at(5))
        #expect(counter.milliwattHours == 7)
        counter.add(deciwatts: 36_000, at: at(6))
        #expect(counter.milliwattHours == 1_007)
    }

    @Test("The counter saturates at its maximum") func extremesSaturate() {
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

    private func measured(_ deciwatts: Int32, _ microwattHours: Int64?) -> Measurement {
        Measurement(deciwatts: deciwatts, addedMicrowattHours: microwattHours)
    }

    @Test("The energy that a meter counted is preferred to the mean power")
    func whatTheMeterCountedComesBeforeTheMean() {
        var counter = EnergyCounter()
        counter.add(measured(0, nil), at: at(0))
        // The power is 0 at both ends, and the meter counted 0.7 Wh in between.
        counter.add(measured(0, 700_000), at: at(1))
        #expect(counter.milliwattHours == 700)
        // Fractions of a milliwatt-hour of the meter and of the mean power are both kept.
        for second in 2...101 { counter.add(measured(0, 15), at: at(Double(second))) }
        #expect(counter.milliwattHours == 701)
        counter.add(measured(36, 500), at: at(102))
        counter.add(measured(36, nil), at: at(103))
        #expect(counter.milliwattHours == 703)
    }

    @Test("The energy that a meter counted is added across a gap") func aMetersCounterSeesAcrossAGap() {
        var counter = EnergyCounter(gapLimit: .seconds(30))
        counter.add(measured(10_000, nil), at: at(0))
        counter.add(measured(10_000, 10_000_000), at: at(36))
        #expect(counter.milliwattHours == 10_000)
    }

    @Test("The energy before the first measurement is not added")
    func whatAMeterCountedBeforeTheFirstMeasurementIsNotAdded() {
        var counter = EnergyCounter(milliwattHours: 5)
        counter.add(measured(0, 1_000_000), at: at(10))
        #expect(counter.milliwattHours == 5)
        // Energy with a time that goes back is not added either.
        counter.add(measured(0, 1_000_000), at: at(9))
        #expect(counter.milliwattHours == 5)
    }

    @Test("Negative energy of a meter adds nothing, and implausible energy is replaced by the mean power")
    func energyFedBackOrAnImpossibleJumpAddsNoMoreThanThePowerSays() {
        var counter = EnergyCounter(milliwattHours: 1_400_000_000)
        counter.add(measured(36_000, nil), at: at(0))
        counter.add(measured(36_000, -1_400_000_000_000), at: at(1))
        #expect(counter.milliwattHours == 1_400_000_000)
        // The limit is 10 kW: 2.778 Wh per second. Above it the mean power applies: 1 Wh.
        counter.add(measured(36_000, 2_777_778), at: at(2))
        #expect(counter.milliwattHours == 1_400_001_000)
        counter.add(measured(36_000, 2_777_777), at: at(3))
        #expect(counter.milliwattHours == 1_400_003_777)
        counter.add(measured(36_000, .max), at: at(4))
        counter.add(measured(36_000, .min), at: at(5))
        #expect(counter.milliwattHours == 1_400_004_777)
        // Power is limited to 10 kW.
        counter.add(measured(.max, nil), at: at(5.5))
        counter.add(measured(.max, nil), at: at(6.5))
        #expect(counter.milliwattHours <= 1_400_008_944)
    }

    @Test("Random meter values never increase the counter faster than 10 kW", arguments: 1...50 as ClosedRange<UInt64>)
    func whateverAMeterSaysTheTotalRisesByNoMoreThanAPlausiblePower(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var counter = EnergyCounter(milliwattHours: 1000)
        var total = counter.milliwattHours
        var seconds = 0.0
        for _ in 0..<500 {
            let step = random.chance(0.1) ? -1 : Double.random(in: 0...100, using: &random)
            seconds += step
            let shift = Int64.random(in: 0..<64, using: &random)
            let any = Int64.random(in: .min ... .max, using: &random) >> shift
            let added = random.chance(0.3) ? nil : any
            counter.add(measured(.random(in: .min ... .max, using: &random), added), at: at(seconds))
            #expect(counter.milliwattHours >= total)
            let most: Double = max(0, step) * 10_000 / 3.6 + 1
            #expect(Double(counter.milliwattHours - total) <= most)
            total = counter.milliwattHours
        }
        #expect(total > 1000)
    }

    @Test("A measurement is rounded to the stored resolution, and invalid values are rejected")
    func measurementsRoundToTheResolutionThatIsKept() {
        #expect(
            Measurement(watts: 59.96, volts: 229.949, amperes: 0.26051)
                == Measurement(deciwatts: 600, decivolts: 2299, milliamperes: 261))
        #expect(Measurement(watts: -1.25)?.deciwatts == -13)
        #expect(Measurement(watts: .nan) == nil)
        #expect(Measurement(watts: .infinity) == nil)
        #expect(Measurement(watts: 1, volts: -1) == nil)
        #expect(Measurement(watts: 1, volts: 230, amperes: 5e6) == nil)
    }

    @Test("The time of a sample is rounded down to milliseconds") func sampleTimesAreCutToMilliseconds() {
        let measurement = Measurement(deciwatts: 1)
        #expect(Sample(measurement, at: Instant(nanoseconds: 1_999_999)).milliseconds == 1)
        #expect(Sample(measurement, at: Instant(nanoseconds: -1)).milliseconds == -1)
        #expect(Sample(milliseconds: .max, deciwatts: 0).time == Instant(nanoseconds: .max))
        #expect(Sample(milliseconds: -3, deciwatts: 0).time == Instant(nanoseconds: -3_000_000))
    }
}
