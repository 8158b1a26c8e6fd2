import Metering
import PlugModel
import ProtocolCore

/// Evaluates the measurements of meter and thermometer with all guards. Reports which protection trips, regardless of
/// an existing lock.
struct ProtectionGuards: Sendable {
    private var overCurrent: OverCurrentGuard
    private var overPower: OverPowerGuard
    private var overVoltage: OverVoltageGuard
    private var underVoltage: UnderVoltageGuard
    private var overTemperature: OverTemperatureGuard
    private var weldedRelay: WeldedRelayGuard

    init(_ configuration: ApplianceConfiguration) {
        overCurrent = OverCurrentGuard(configuration.overCurrent)
        overPower = OverPowerGuard(configuration.overPower)
        overVoltage = OverVoltageGuard(configuration.overVoltage)
        underVoltage = UnderVoltageGuard(configuration.underVoltage)
        overTemperature = OverTemperatureGuard(configuration.overTemperature)
        weldedRelay = WeldedRelayGuard(configuration.weldedRelay)
    }

    /// Returns the most serious protection that this measurement trips, or nil. Load and mains are checked only while
    /// the relay is closed.
    mutating func measured(_ measurement: Measurement, relayOn: Bool, now: Instant) -> Protection? {
        // The contacts cool while the relay is open, so this guard receives every measurement.
        let isTooMuch = measurement.milliamperes.map { overCurrent.measured(milliamperes: $0, now: now) } ?? false
        guard relayOn else {
            let flows = weldedRelay.measured(
                deciwatts: measurement.deciwatts, milliamperes: measurement.milliamperes, now: now)
            return flows ? .weldedRelay : nil
        }
        let isTooStrong = overPower.measured(deciwatts: measurement.deciwatts, now: now)
        let isTooHigh = measurement.decivolts.map { overVoltage.measured(decivolts: $0, now: now) } ?? false
        let isTooLow = measurement.decivolts.map { underVoltage.measured(decivolts: $0, now: now) } ?? false
        if isTooMuch { return .overCurrent }
        if isTooStrong { return .overPower }
        if isTooHigh { return .overVoltage }
        return isTooLow ? .underVoltage : nil
    }

    /// Sets a new limit of the power.
    mutating func limitPower(_ limit: OverPowerLimit?) { overPower.change(limit) }

    /// Returns true if this temperature, in tenths of a degree, trips the plug. Nil means that the thermometer failed.
    mutating func measured(decidegrees: Int16?) -> Bool { overTemperature.measured(decidegrees: decidegrees) }

    /// See ``OverTemperatureGuard/tooHot``.
    var tooHot: Int16? { overTemperature.tooHot }

    /// Handles a silent meter: time without measurements does not count.
    mutating func interrupt() {
        overCurrent.interrupt()
        relayChanged()
    }

    /// Discards measurements from before the relay changed. Only the heat of the contacts remains.
    mutating func relayChanged() {
        overPower.interrupt()
        overVoltage.interrupt()
        underVoltage.interrupt()
        weldedRelay.interrupt()
    }
}
