import Appliance
import ConfigurationFiles
import PlugModel

extension ConfigurationReader {
    /// Reads the keys of `[power]` and `[protection]`.
    ///
    /// - Parameter hasRelay: true for a real relay, whose switching rate is limited by default because it wears out.
    func appliance(hasRelay: Bool) -> ApplianceConfiguration {
        var appliance = ApplianceConfiguration()
        let power = table("power")
        if let state = power.choice("power_on", PowerOnState.self) { appliance.powerOnState = state }
        appliance.autoOff = power.number("auto_off_s", 0.1...86_400, "s", isOffAtZero: true).flatMap(Self.duration)
        if appliance.powerOnState == .lockedOn, appliance.autoOff != nil {
            power.wrong(
                .contradiction("power_on = \"locked-on\" keeps the relay on; remove one of the two keys"),
                "auto_off_s")
        }
        let protection = table("protection")
        protect(&appliance, protection)
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

    /// Returns nil for zero, which disables the setting.
    static func duration(_ seconds: Double) -> Duration? {
        seconds == 0 ? nil : .milliseconds(Int64((seconds * 1000).rounded()))
    }
}
