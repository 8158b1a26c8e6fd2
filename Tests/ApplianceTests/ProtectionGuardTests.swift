import Metering
import PlugModel
import ProtocolCore
import Testing

@testable import Appliance

/// Tests of the guards without a plug: the time to a trip, the recovery and the limits.
@Suite struct ProtectionGuardTests {
    private static let limits = OverCurrentLimits(
        ratedMilliamperes: 16_000, instantMilliamperes: 40_000, atTwiceRated: .seconds(10))

    /// Returns the number of tenths of a second after which this current trips a guard whose budget is unused, or nil
    /// if it does not trip within an hour.
    private func trips(_ milliamperes: UInt32, of guardian: OverCurrentGuard = OverCurrentGuard(limits)) -> Int? {
        var guardian = guardian
        return (0...36_000).first {
            guardian.measured(milliamperes: milliamperes, now: .zero + .milliseconds($0 * 100))
        }
    }

    @Test("A higher current trips sooner, and the rated current never trips")
    func theHigherTheCurrentTheSoonerItTripsAndTheRatedOneNever() {
        // At n times the rated current, the guard trips after 10 s * 3 / (n² - 1), at the next measurement.
        #expect([16_000, 17_600, 20_000, 32_000, 40_000].map { trips($0) } == [nil, 1429, 534, 100, 58])
        #expect(trips(40_001) == 0, "one measurement above 40 A must trip the guard")
        #expect(trips(0) == nil)
    }

    @Test("The overload budget recovers below the rated current, but not at the rated current")
    func theBudgetRecoversBelowTheRatedCurrentAndNotAtIt() {
        for (rest, again) in [(0 as UInt32, 84), (16_000, 40)] {
            var guardian = OverCurrentGuard(Self.limits)
            // Six of the ten seconds at twice the rated current are used. Then 13 s of a different current follow.
            for tenth in 0...60 {
                let isTripped = guardian.measured(milliamperes: 32_000, now: .zero + .milliseconds(tenth * 100))
                #expect(!isTripped)
            }
            for tenth in 61...190 {
                let isTripped = guardian.measured(milliamperes: rest, now: .zero + .milliseconds(tenth * 100))
                #expect(!isTripped)
            }
            let tripped = (1...200).first {
                guardian.measured(milliamperes: 32_000, now: .zero + .milliseconds(19_000 + $0 * 100))
            }
            // 13 s without current restore 13/30 of the budget, which is 4.3 s at twice the rated current.
            #expect(tripped == again || tripped == again - 1, "\(tripped ?? 0)")
        }
    }

    @Test("Time without measurements does not change the overload budget")
    func whatNobodyMeasuredNeitherHeatsNorCools() {
        var guardian = OverCurrentGuard(Self.limits)
        var used = 0
        for round in 0..<20 {
            let start = Instant.zero + .seconds(100 * Int64(round))
            guardian.interrupt()
            let isTripped = guardian.measured(milliamperes: 32_000, now: start)
            #expect(!isTripped)
            if guardian.measured(milliamperes: 32_000, now: start + .seconds(1)) { break }
            used += 1
        }
        #expect((9...10).contains(used), "each round must use one second of the budget, the one that was measured")
    }

    @Test("After a trip the next overload trips at once, and an allowed load does not")
    func afterATripTheNextOverloadTripsAtOnceAndAnAllowedLoadDoesNot() {
        var guardian = OverCurrentGuard(Self.limits)
        _ = guardian.measured(milliamperes: 32_000, now: .zero)
        let trips = [(32_000 as UInt32, 11 as Int64), (16_000, 12), (17_000, 13)].map { current, second in
            guardian.measured(milliamperes: current, now: .zero + .seconds(second))
        }
        #expect(trips == [true, false, true])
    }

    @Test("A voltage below the limit trips after its duration, and a voltage below 45 V is ignored")
    func aVoltageThatSagsTripsAndNoVoltageDoesNot() {
        func isTripped(_ decivolts: UInt16, for seconds: Int64) -> Bool {
            var guardian = UnderVoltageGuard(VoltageLimit(decivolts: 1800, duration: .seconds(5)))
            return (0...seconds).map { guardian.measured(decivolts: decivolts, now: .zero + .seconds($0)) }.contains(
                true)
        }
        #expect(isTripped(1799, for: 5) && isTripped(450, for: 5))
        #expect(!isTripped(1799, for: 4) && !isTripped(1800, for: 60))
        // A voltage below 45 V means a failed meter, an input that is not connected, or a bench supply that is off.
        #expect(!isTripped(0, for: 60) && !isTripped(449, for: 60))
    }

    @Test("One hot measurement is ignored, and two in a row trip") func oneHotMeasurementIsADisturbanceTwoAreHeat() {
        var guardian = OverTemperatureGuard(TemperatureLimit(decidegrees: 850, hysteresis: 150))
        let temperatures: [Int16?] = [851, 850, 851, nil, 900, 851]
        let trips = temperatures.map { guardian.measured(decidegrees: $0) }
        #expect(trips == [false, false, false, false, false, true])
        #expect(guardian.tooHot == 851)
        _ = guardian.measured(decidegrees: 701)
        #expect(guardian.tooHot == 701)
        _ = guardian.measured(decidegrees: 700)
        #expect(guardian.tooHot == nil)
        _ = guardian.measured(decidegrees: nil)
        #expect(guardian.tooHot == nil, "a failed thermometer must not prevent a reset")
        var off = OverTemperatureGuard(nil)
        let offTrips = (0..<3).map { _ in off.measured(decidegrees: .max) }
        #expect(!offTrips.contains(true) && off.tooHot == nil)
    }

    @Test("The switching-rate limit permits its full count at once, and then refills evenly")
    func theBucketHoldsItsSwitchesAndFillsEvenly() {
        var bucket = SwitchingRateGuard(SwitchingRate(count: 6, window: .seconds(60)))
        let first = (0..<7).map { _ in bucket.take(.zero) }
        #expect(first == [true, true, true, true, true, true, false])
        let later = (1...30).map { bucket.take(.zero + .seconds($0)) }
        #expect(later.enumerated().filter(\.element).map { $0.offset + 1 } == [10, 20, 30])
        bucket.refill()
        let again = (0..<7).map { _ in bucket.take(.zero + .seconds(31)) }
        #expect(again == first)
        var none = SwitchingRateGuard(SwitchingRate(count: 0, window: .seconds(60)))
        let isTaken = none.take(.zero)
        #expect(!isTaken)
        var off = SwitchingRateGuard(nil)
        let areTaken = (0..<1000).map { _ in off.take(.zero) }
        #expect(!areTaken.contains(false))
    }

    @Test("The limits of a plug rated for 3 A and 24 V have the same proportions as those of a socket")
    func aBenchPlugHasOtherNumbersInTheSameProportions() {
        var socket = ApplianceConfiguration()
        let defaults = socket
        socket.rate(milliamperes: 16_000, decivolts: 2300)
        #expect(socket.overPower == defaults.overPower && socket.overCurrent == defaults.overCurrent)
        #expect(socket.weldedRelay == defaults.weldedRelay)
        #expect(socket.overVoltage == VoltageLimit(decivolts: 2760, duration: .seconds(3)))
        var bench = ApplianceConfiguration()
        bench.rate(milliamperes: 3000, decivolts: 240)
        #expect(bench.overPower?.deciwatts == 720)
        #expect(bench.overCurrent?.instantMilliamperes == 7500)
        #expect(bench.overVoltage?.decivolts == 288)
        #expect(bench.weldedRelay == WeldedRelayLimit(deciwatts: 1, milliamperes: 18, duration: .seconds(5)))
    }
}
