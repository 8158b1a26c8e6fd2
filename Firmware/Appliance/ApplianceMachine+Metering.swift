import Metering
import PlugModel
import ProtocolCore

extension ApplianceMachine {
    var hasSomethingToMeasure: Bool { can(.meter) || configuration.hasThermometer }

    /// Asks meter and thermometer and plans the next time, on the grid of the first. What was missed is not made up for.
    ///
    /// A bus that is stuck keeps its answer for seconds, or for ever: it is not asked again before it has answered.
    mutating func requestMeasurement(_ now: Instant, _ actions: inout [Action]) {
        isMeasuring = true
        actions.append(.readMeter)
        planMeasurement(now)
    }

    private mutating func planMeasurement(_ now: Instant) {
        let interval = configuration.measurementInterval
        let planned = (nextMeasurement ?? now) + interval
        guard planned <= now else { return nextMeasurement = planned }
        let missed = (now - planned).wholeNanoseconds / interval.wholeNanoseconds
        nextMeasurement = planned + interval * (missed + 1)
    }

    private mutating func finishMeasurement(_ now: Instant) {
        isMeasuring = false
        // It took longer than an interval: the next one is at the next point of the grid.
        if let next = nextMeasurement, next <= now { planMeasurement(now) }
    }

    mutating func measured(_ measurement: Measurement, _ now: Instant, _ actions: inout [Action]) {
        finishMeasurement(now)
        energy.add(measurement, at: now)
        reading = Reading(
            time: now, deciwatts: measurement.deciwatts, decivolts: measurement.decivolts,
            milliamperes: measurement.milliamperes, alternating: measurement.alternating,
            milliwattHours: energy.milliwattHours)
        actions.append(.sample(Sample(measurement, at: now)))
        judge(guards.measured(measurement, relayOn: relayOn, now: now), now, &actions)
    }

    mutating func meterFailed(_ now: Instant) {
        if can(.meter) { finishMeasurement(now) }
        guards.interrupt()
    }

    /// - Parameter decidegrees: nil: the thermometer failed.
    mutating func temperature(_ decidegrees: Int16?, _ now: Instant, _ actions: inout [Action]) {
        // The meter's answer comes after this one and ends the round.
        if !can(.meter) { finishMeasurement(now) }
        if guards.measured(decidegrees: decidegrees) { judge(.overTemperature, now, &actions) }
    }

    mutating func expireReading() {
        reading = nil
        guards.interrupt()
    }

    var readingExpires: Instant? { reading.map { $0.time + configuration.shownLifetime } }
}
