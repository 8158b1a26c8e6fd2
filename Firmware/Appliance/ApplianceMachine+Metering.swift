import Metering
import PlugModel
import ProtocolCore

extension ApplianceMachine {
    var hasSomethingToMeasure: Bool { can(.meter) || configuration.hasThermometer }

    /// Requests a measurement from meter and thermometer and schedules the next one, a whole number of intervals after
    /// the first. Missed measurements are not repeated.
    ///
    /// A stuck bus delays its answer for seconds or forever, so no further request is sent before the answer.
    mutating func requestMeasurement(_ now: Instant, _ actions: inout [Action]) {
        isMeasuring = true
        actions.append(.part(.readMeter))
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
        // The measurement took longer than an interval. The next one follows at the next whole number of intervals.
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

    /// Handles a temperature in tenths of a degree Celsius.
    /// - Parameter decidegrees: Nil if the thermometer failed.
    mutating func temperature(_ decidegrees: Int16?, _ now: Instant, _ actions: inout [Action]) {
        // With a meter, the meter's answer follows this one and ends the measurement.
        if !can(.meter) { finishMeasurement(now) }
        if guards.measured(decidegrees: decidegrees) { judge(.overTemperature, now, &actions) }
    }

    mutating func expireReading() {
        reading = nil
        guards.interrupt()
    }

    var readingExpires: Instant? { reading.map { $0.time + configuration.shownLifetime } }
}
