import Metering
import PlugModel
import ProtocolCore

/// All that watches what the meter and the thermometer say. It tells what trips; whether the plug is locked already is not its
/// business.
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

    /// What this measurement trips, the gravest first; nil: nothing. Load and mains are judged while they are connected.
    mutating func measured(_ measurement: Measurement, relayOn: Bool, now: Instant) -> Protection? {
        // It cools while the relay is open, so it is asked in any case.
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

    /// Another limit of power from now on.
    mutating func limitPower(_ limit: OverPowerLimit?) { overPower.change(limit) }

    /// True when this temperature, in tenths of a degree, trips the plug; nil: the thermometer failed.
    mutating func measured(decidegrees: Int16?) -> Bool { overTemperature.measured(decidegrees: decidegrees) }

    /// See ``OverTemperatureGuard/tooHot``.
    var tooHot: Int16? { overTemperature.tooHot }

    /// The meter is silent: time that nobody measured does not count.
    mutating func interrupt() {
        overCurrent.interrupt()
        relayChanged()
    }

    /// What was measured with the relay the other way says nothing about how it is now. Only the heat of the contacts stays.
    mutating func relayChanged() {
        overPower.interrupt()
        overVoltage.interrupt()
        underVoltage.interrupt()
        weldedRelay.interrupt()
    }
}
