import Metering
import PlugProtocol
import ProtocolCore

extension ApplianceMachine {
    /// Asks the meter and plans the next time, on the grid of the first. What was missed is not made up for.
    mutating func requestMeasurement(_ now: Instant, _ actions: inout [Action]) {
        actions.append(.readMeter)
        let interval = configuration.meterInterval
        let planned = (nextMeasurement ?? now) + interval
        nextMeasurement = planned > now ? planned : now + interval
    }

    mutating func measured(_ measurement: Measurement, _ now: Instant, _ actions: inout [Action]) {
        energy.add(deciwatts: measurement.deciwatts, at: now)
        reading = Reading(
            time: now, deciwatts: measurement.deciwatts, decivolts: measurement.decivolts,
            milliamperes: measurement.milliamperes, milliwattHours: energy.milliwattHours)
        actions.append(.sample(Sample(measurement, at: now)))
        guard relayOn, protection.measured(deciwatts: measurement.deciwatts, now: now) else { return }
        actions.append(.record(.protectionTripped(.overPower)))
        _ = switchRelay(false, cause: .protection, now, &actions)
    }

    var readingExpires: Instant? { reading.map { $0.time + configuration.readingLifetime } }
}
