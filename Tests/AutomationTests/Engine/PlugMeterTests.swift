import ProtocolCore
import Testing

@testable import Automation

@Suite struct PlugMeterTests {
    private static func meter(low: Double, high: Double) -> PlugMeter {
        var meter = PlugMeter()
        meter.appear(gap: .seconds(5))
        meter.keep(50, time: .at(1), now: .at(2))
        meter.closeBand()
        var band = meter.band
        (band.low, band.high, band.until) = (low, high, .at(100))
        meter.open(band)
        return meter
    }

    @Test("A reading within the limits and the time of the quiet band needs no evaluation")
    func quiet() {
        var meter = Self.meter(low: 40, high: 60)
        let isQuiet = [
            meter.takesQuietly(55, time: .at(3), now: .at(4)), meter.takesQuietly(61, time: .at(4), now: .at(5)),
            meter.takesQuietly(55, time: .at(101), now: .at(102)), meter.takesQuietly(.nan, time: .at(4), now: .at(5)),
        ]
        #expect(isQuiet == [true, false, false, false])
        #expect(meter.activePower == 55 && meter.time == .at(3) && meter.arrival == .at(4))
    }

    @Test("After the quiet band is closed, every reading needs an evaluation")
    func closed() {
        var meter = Self.meter(low: 0, high: 100)
        meter.closeBand()
        let isQuiet = meter.takesQuietly(50, time: .at(3), now: .at(4))
        #expect(!isQuiet && meter.time == .at(1))
    }

    @Test("Every reading of a watched plug needs an evaluation")
    func watched() {
        var meter = Self.meter(low: 0, high: 100)
        meter.watch(true)
        let isQuiet = meter.takesQuietly(50, time: .at(3), now: .at(4))
        #expect(!isQuiet)
    }
}
