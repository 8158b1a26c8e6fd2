import ConfigurationFiles
import Appliance

/// Reads the limits of the protections and checks their consistency.
extension ConfigurationReader {
    func protect(_ appliance: inout ApplianceConfiguration, _ protection: Table) {
        rate(&appliance, protection)
        limitPower(&appliance, protection)
        limitCurrent(&appliance, protection)
        limitVoltage(&appliance, protection)
        limitTemperature(&appliance, protection)
        if protection.boolean("welded_relay") == false { appliance.weldedRelay = nil }
    }

    /// Applies the ratings, which set several limits at once; single keys override them.
    private func rate(_ appliance: inout ApplianceConfiguration, _ protection: Table) {
        let current = protection.number("rated_current_a", 0.1...63, "A")
        let voltage = protection.number("rated_voltage_v", 5...250, "V")
        guard current != nil || voltage != nil else { return }
        appliance.rate(
            milliamperes: UInt32(((current ?? 16) * 1000).rounded()),
            decivolts: UInt16(((voltage ?? 230) * 10).rounded()))
    }

    /// Rejects a limit that no part measures, because the user would rely on it.
    private func watched(_ key: String, _ protection: Table, by part: String = "meter") {
        guard text.tables[part] == nil else { return }
        protection.wrong(.missing("a [\(part)] that measures it"), key)
    }

    private func limitPower(_ appliance: inout ApplianceConfiguration, _ protection: Table) {
        let watts = protection.number("over_power_w", 0.1...20_000, "W", isOffAtZero: true)
        let duration = protection.number("over_power_s", 0.1...3600, "s").flatMap(Self.duration)
        if watts == 0 {
            appliance.overPower = nil
            if duration != nil {
                protection.wrong(.needless("over_power_w = 0 disables the limit"), "over_power_s")
            }
        } else if let watts {
            appliance.overPower?.deciwatts = Int32(watts * 10)
            watched("over_power_w", protection)
        }
        if let duration { appliance.overPower?.duration = duration }
    }

    private func limitCurrent(_ appliance: inout ApplianceConfiguration, _ protection: Table) {
        let isLimited = protection.boolean("over_current")
        let peak = protection.number("instant_current_a", 0.1...200, "A")
        let time = protection.number("twice_rated_s", 0.1...600, "s").flatMap(Self.duration)
        guard isLimited != false else {
            appliance.overCurrent = nil
            for key in ["instant_current_a", "twice_rated_s"] where protection.has(key) {
                protection.wrong(.needless("over_current = false disables the limit"), key)
            }
            return
        }
        if isLimited == true { watched("over_current", protection) }
        if let time { appliance.overCurrent?.atTwiceRated = time }
        guard let peak else { return }
        watched("instant_current_a", protection)
        appliance.overCurrent?.instantMilliamperes = UInt32((peak * 1000).rounded())
        let rated = Double(appliance.overCurrent?.ratedMilliamperes ?? 0) / 1000
        if peak <= rated {
            protection.wrong(
                .contradiction(
                    "\(plain(peak)) A is not above the rated current, \(plain(rated)) A: "
                        + "an allowed current would open the relay"), "instant_current_a")
        }
    }

    private func limitVoltage(_ appliance: inout ApplianceConfiguration, _ protection: Table) {
        let over = protection.number("over_voltage_v", 1...400, "V", isOffAtZero: true)
        let under = protection.number("under_voltage_v", 1...400, "V", isOffAtZero: true)
        let duration = protection.number("voltage_s", 0.1...600, "s").flatMap(Self.duration)
        if let over {
            appliance.overVoltage = limit(over, duration ?? appliance.overVoltage?.duration)
        } else if let duration {
            appliance.overVoltage?.duration = duration
        }
        if let under { appliance.underVoltage = limit(under, duration) }
        if let over, over != 0 { watched("over_voltage_v", protection) }
        guard let low = under, low != 0 else { return }
        watched("under_voltage_v", protection)
        guard let high = appliance.overVoltage.map({ Double($0.decivolts) / 10 }), low >= high else { return }
        protection.wrong(
            .contradiction(
                "\(plain(low)) V is not below over_voltage_v, \(plain(high)) V: every voltage would open the relay"),
            "under_voltage_v")
    }

    private func limit(_ volts: Double, _ duration: Duration?) -> VoltageLimit? {
        volts == 0 ? nil : VoltageLimit(decivolts: UInt16((volts * 10).rounded()), duration: duration ?? .seconds(3))
    }

    private func limitTemperature(_ appliance: inout ApplianceConfiguration, _ protection: Table) {
        guard let degrees = protection.number("over_temperature_c", 30...150, "°C", isOffAtZero: true) else { return }
        guard degrees != 0 else {
            appliance.overTemperature = nil
            return
        }
        appliance.overTemperature = TemperatureLimit(
            decidegrees: Int16((degrees * 10).rounded()), hysteresis: appliance.overTemperature?.hysteresis ?? 150)
        watched("over_temperature_c", protection, by: "thermometer")
    }
}
