import Appliance

extension ConfigurationReader {
    /// What the plug does by itself.
    ///
    /// - Parameter hasRelay: a real one wears out, so its switching is limited unless the file says otherwise.
    func appliance(hasRelay: Bool) -> ApplianceConfiguration {
        var appliance = ApplianceConfiguration()
        let power = table("power")
        if let state = power.choice("power_on", PowerOnState.self) { appliance.powerOnState = state }
        appliance.autoOff = power.number("auto_off_s", 0.1...86_400, "s", isOffAtZero: true).flatMap(Self.duration)
        let protection = table("protection")
        rate(&appliance, protection)
        limitPower(&appliance, protection)
        limitVoltage(&appliance, protection)
        if let degrees = protection.number("over_temperature_c", 30...150, "°C", isOffAtZero: true) {
            appliance.overTemperature =
                degrees == 0
                ? nil
                : TemperatureLimit(
                    decidegrees: Int16((degrees * 10).rounded()),
                    hysteresis: appliance.overTemperature?.hysteresis ?? 150)
        }
        if protection.boolean("welded_relay") == false { appliance.weldedRelay = nil }
        appliance.rest = protection.number("rest_s", 0.1...3600, "s", isOffAtZero: true).flatMap(Self.duration)
        let count = protection.integer("switches", 0...10_000, "in switches_window_s, or 0 for off")
        let window = protection.number("switches_window_s", 1...86_400, "s").flatMap(Self.duration)
        if hasRelay || count != nil || window != nil {
            let usual = SwitchingRate.usual
            let rate = SwitchingRate(count: count ?? usual.count, window: window ?? usual.window)
            appliance.switchingRate = rate.count == 0 ? nil : rate
        }
        return appliance
    }

    /// What the plug may carry sets several limits at once; single keys are laid over them.
    private func rate(_ appliance: inout ApplianceConfiguration, _ protection: Table) {
        let current = protection.number("rated_current_a", 0.1...63, "A")
        let voltage = protection.number("rated_voltage_v", 5...250, "V")
        guard current != nil || voltage != nil else { return }
        appliance.rate(
            milliamperes: UInt32(((current ?? 16) * 1000).rounded()),
            decivolts: UInt16(((voltage ?? 230) * 10).rounded()))
    }

    private func limitPower(_ appliance: inout ApplianceConfiguration, _ protection: Table) {
        let watts = protection.number("over_power_w", 0.1...20_000, "W", isOffAtZero: true)
        let duration = protection.number("over_power_s", 0.1...3600, "s").flatMap(Self.duration)
        if watts == 0 {
            appliance.overPower = nil
        } else if let watts {
            appliance.overPower?.deciwatts = Int32(watts * 10)
        }
        if let duration { appliance.overPower?.duration = duration }
        if protection.boolean("over_current") == false { appliance.overCurrent = nil }
        if let peak = protection.number("instant_current_a", 0.1...200, "A") {
            appliance.overCurrent?.instantMilliamperes = UInt32((peak * 1000).rounded())
        }
        if let time = protection.number("twice_rated_s", 0.1...600, "s").flatMap(Self.duration) {
            appliance.overCurrent?.atTwiceRated = time
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
    }

    private func limit(_ volts: Double, _ duration: Duration?) -> VoltageLimit? {
        volts == 0 ? nil : VoltageLimit(decivolts: UInt16((volts * 10).rounded()), duration: duration ?? .seconds(3))
    }

    /// Nil for zero, which turns off.
    static func duration(_ seconds: Double) -> Duration? {
        seconds == 0 ? nil : .milliseconds(Int64((seconds * 1000).rounded()))
    }
}
