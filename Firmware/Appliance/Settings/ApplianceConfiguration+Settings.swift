import PlugModel

/// The settings that controllers may change. A locked relay and a limit in the configuration protect the hardware or an
/// important load, so controllers cannot remove them.
extension ApplianceConfiguration {
    /// The shortest auto-off time that a controller can set.
    static let shortestAutoOff = Duration.seconds(1)
    /// The range of the power limit in tenths of a watt. Below 1 W almost every load would trip. Above 20 kW, which
    /// only a plug without a configured limit could accept, the value is probably in the wrong unit.
    static let powerLimits: ClosedRange<UInt32> = 10...200_000

    private var isLockedOn: Bool {
        switch powerOnState {
        case .lockedOn: true
        case .off, .on, .last: false
        }
    }

    private var hasOutput: Bool { capabilities.contains(.relay) || capabilities.contains(.dimmer) }

    private var allowedPowerLimits: ClosedRange<UInt32> {
        let most = overPower.map { UInt32(clamping: $0.deciwatts) } ?? Self.powerLimits.upperBound
        return min(most, Self.powerLimits.lowerBound)...most
    }

    /// Returns this configuration with the settings applied. Settings that the configuration no longer allows are
    /// ignored.
    func changed(by settings: StoredSettings) -> ApplianceConfiguration {
        var changed = self
        if !isLockedOn {
            if let powerOn = settings.powerOn, powerOn != .lockedOn { changed.powerOnState = powerOn }
            if let autoOff = settings.autoOff { changed.autoOff = autoOff > .zero ? autoOff : nil }
        }
        if let limit = settings.powerLimit, allowedPowerLimits.contains(limit) {
            changed.overPower = OverPowerLimit(
                deciwatts: Int32(clamping: limit), duration: overPower?.duration ?? OverPowerLimit.usualDuration)
        }
        if let lock = settings.childLock { changed.isChildLocked = lock }
        if let span = settings.lightOff { changed.lightOff = span }
        return changed
    }

    /// The settings that controllers see.
    var remoteSettings: RemoteSettings {
        RemoteSettings(
            powerOn: powerOnState, autoOff: isLockedOn ? nil : autoOff,
            powerLimit: overPower.map { UInt32(clamping: $0.deciwatts) },
            childLock: capabilities.contains(.button) ? isChildLocked : nil, lightOff: hasLamp ? lightOff : nil)
    }

    /// Returns the reason for refusing a change, or nil if it is accepted.
    func refusal(of change: SettingsChange) -> Refusal? {
        if change.powerOn != nil || change.autoOff != nil {
            guard hasOutput else {
                return Refusal(.unsupported, "This plug has no relay and no dimmer, so it has nothing to turn off.")
            }
        }
        if change.powerOn?.value != nil || change.autoOff?.value != nil, isLockedOn { return .lockedOn }
        if change.powerOn?.value == .lockedOn {
            return Refusal(
                .outOfRange, "Only the plug's configuration can lock it on; use off, on or last.")
        }
        if let time = change.autoOff?.value, time != .zero,
            !(Self.shortestAutoOff...ApplianceMachine.longestAutoOff).contains(time)
        {
            return Refusal(.outOfRange, "The time of auto-off is one second to 30 days, or off.")
        }
        if change.childLock != nil, !capabilities.contains(.button) {
            return Refusal(.unsupported, "This plug has no button.")
        }
        if change.lightOff != nil, !hasLamp { return Refusal(.unsupported, "This plug has no status light.") }
        guard let new = change.powerLimit else { return nil }
        guard hasOutput, capabilities.contains(.meter) else {
            return Refusal(.unsupported, "This plug cannot measure and turn off power.")
        }
        guard let limit = new.value, !allowedPowerLimits.contains(limit) else { return nil }
        return Refusal(
            .outOfRange,
            "The limit is \(Self.watts(limit)) W; \(Self.watts(allowedPowerLimits.lowerBound)) to "
                + "\(Self.watts(allowedPowerLimits.upperBound)) W are allowed.")
    }

    private static func watts(_ deciwatts: UInt32) -> String {
        let whole = "\(deciwatts / 10)"
        return deciwatts.isMultiple(of: 10) ? whole : whole + ".\(deciwatts % 10)"
    }
}

extension Refusal {
    static let lockedOn = Refusal(
        .lockedOn, "This plug's configuration keeps it on. Change power_on in the configuration first.")
}
