import ProtocolCore
import Testing

@testable import Automation

@Suite struct EnergyPeriodsTests {
    private static func used(_ counter: inout EnergyPeriods, _ day: Int64, _ value: UInt64, at second: Double) -> Double
    {
        counter.begin(value)
        defer { counter.finish(value, now: .at(second), quiet: nil) }
        return counter.used(in: .day, number: day, value, now: .at(second))
    }

    @Test("In the first period, energy counts from the first value; later, from the last value of the previous period")
    func periods() {
        var counter = EnergyPeriods()
        let used = [
            Self.used(&counter, 1, 1000, at: 0), Self.used(&counter, 1, 3000, at: 60),
            Self.used(&counter, 2, 3500, at: 120),
        ]
        #expect(used == [0, 2, 0.5])
    }

    @Test("After a long silence the energy of a period counts from its first value")
    func silence() {
        var counter = EnergyPeriods()
        let used = [Self.used(&counter, 1, 1000, at: 0), Self.used(&counter, 2, 9000, at: 5000)]
        #expect(used == [0, 0])
    }

    @Test("A counter that decreases continues from the new value")
    func decreases() {
        var counter = EnergyPeriods()
        let used = [
            Self.used(&counter, 1, 5000, at: 0), Self.used(&counter, 1, 100, at: 60),
            Self.used(&counter, 1, 1100, at: 120),
        ]
        #expect(used == [0, 0, 1])
    }

    @Test("A trigger reports an exceeded limit once per period")
    func exceeds() {
        var counter = EnergyPeriods()
        _ = Self.used(&counter, 1, 0, at: 0)
        let isFirst = [counter.evaluate("key", in: .day), counter.evaluate("key", in: .day)]
        let marks = [counter.exceed("key", in: .day), counter.exceed("key", in: .day)]
        #expect(isFirst == [true, false] && marks.map { $0 != nil } == [true, false])
        _ = Self.used(&counter, 2, 10, at: 60)
        let next = counter.exceed("key", in: .day)
        #expect(next?.number == 2)
        let isKnown = !counter.evaluate("key", in: .day)
        #expect(isKnown)
    }

    @Test("A value needs no evaluation if it is within the limit and the time of the quiet range and does not decrease")
    func quiet() {
        var counter = EnergyPeriods()
        counter.finish(100, now: .at(0), quiet: QuietEnergy(milliwattHours: 200, until: .at(60)))
        let isQuiet = [
            counter.takesQuietly(150, now: .at(1)), counter.takesQuietly(149, now: .at(2)),
            counter.takesQuietly(201, now: .at(3)), counter.takesQuietly(160, now: .at(60)),
        ]
        #expect(isQuiet == [true, false, false, false] && counter.last?.milliwattHours == 150)
        counter.closeQuiet()
        let isClosed = !counter.takesQuietly(160, now: .at(4))
        #expect(isClosed)
    }
}
