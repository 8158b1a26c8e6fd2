import PlugModel

/// What controllers may change of what a plug is set up to. A lock and a limit that the configuration names are there for the
/// hardware, or for what must not be turned off by mistake: nobody undoes them from afar.
extension ApplianceConfiguration {
    /// The shortest time after which a controller can have the plug turn off each time.
    static let shortestAutoOff = Duration.seconds(1)
    /// Tenths of a watt: below it every load trips; above it, where nothing is configured, somebody mistook the unit.
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

    /// This configuration with the settings in it. What it does not allow any more, since it was edited, counts for nothing.
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
        return changed
    }

    /// As controllers see it.
    var remoteSettings: RemoteSettings {
        RemoteSettings(
            powerOn: powerOnState, autoOff: isLockedOn ? nil : autoOff,
            powerLimit: overPower.map { UInt32(clamping: $0.deciwatts) })
    }

    /// Why a plug that is configured so does not take the change; nil: it does.
    func refusal(of change: SettingsChange) -> Refusal? {
        if change.powerOn != nil || change.autoOff != nil {
            guard hasOutput else {
                return Refusal(.unsupported, "This plug has no relay and no dimmer, so it has nothing to turn off.")
            }
        }
        if change.powerOn?.value != nil || change.autoOff?.value != nil, isLockedOn { return .lockedOn }
        if change.powerOn?.value == .lockedOn {
            return Refusal(
                .outOfRange, "Only the plug's own configuration can lock it on; here it takes off, on or last.")
        }
        if let time = change.autoOff?.value, time != .zero,
            !(Self.shortestAutoOff...ApplianceMachine.longestAutoOff).contains(time)
        {
            return Refusal(.outOfRange, "Auto-off takes a time from one second to 30 days, or none.")
        }
        guard let wish = change.powerLimit else { return nil }
        guard hasOutput, capabilities.contains(.meter) else {
            return Refusal(.unsupported, "This plug does not measure power that it could turn off.")
        }
        guard let limit = wish.value, !allowedPowerLimits.contains(limit) else { return nil }
        return Refusal(
            .outOfRange,
            "The limit is \(Self.watts(limit)) W; \(Self.watts(allowedPowerLimits.lowerBound)) to "
                + "\(Self.watts(allowedPowerLimits.upperBound)) W are allowed on this plug.")
    }

    private static func watts(_ deciwatts: UInt32) -> String {
        let whole = "\(deciwatts / 10)"
        return deciwatts.isMultiple(of: 10) ? whole : whole + ".\(deciwatts % 10)"
    }
}

extension Refusal {
    static let lockedOn = Refusal(
        .lockedOn, "This plug is set up to be always on. Change power_on in its configuration first.")
}
