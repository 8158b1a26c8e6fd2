import Appliance

extension ConfigurationReader {
    /// What the plug does by itself.
    func appliance() -> ApplianceConfiguration {
        var appliance = ApplianceConfiguration()
        let power = table("power")
        if let state = power.choice("power_on", PowerOnState.self) { appliance.powerOnState = state }
        appliance.autoOff = power.number("auto_off_s", 0.1...86_400, "s", isOffAtZero: true).flatMap(Self.duration)
        let protection = table("protection")
        if let watts = protection.number("over_power_w", 1...20_000, "W", isOffAtZero: true) {
            appliance.overPower =
                watts == 0 ? nil : OverPowerLimit(deciwatts: Int32(watts * 10), duration: .seconds(5))
        }
        return appliance
    }

    /// Nil for zero, which turns off.
    static func duration(_ seconds: Double) -> Duration? {
        seconds == 0 ? nil : .milliseconds(Int64((seconds * 1000).rounded()))
    }
}
