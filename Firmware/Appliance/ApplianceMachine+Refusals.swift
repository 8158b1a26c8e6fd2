import PlugModel
import ProtocolCore

extension ApplianceMachine {
    /// The longest transition and the longest auto-off. A larger value is probably in the wrong unit.
    static let longestTransition = Duration.seconds(3600)
    static let longestAutoOff = Duration.seconds(30 * 24 * 3600)

    /// Returns the reason for refusing a command, or nil if the command can be carried out.
    func refusal(of command: PlugCommand, _ now: Instant) -> Refusal? {
        switch command {
        case .setRelay(let on, let autoOff):
            if !can(.relay), !can(.dimmer) {
                return Refusal(.unsupported, "This plug has no relay and no dimmer, so it cannot be turned on or off.")
            }
            if let autoOff, autoOff <= .zero || autoOff > Self.longestAutoOff {
                return Refusal(.outOfRange, "The time of auto-off must be above zero and at most 30 days.")
            }
            if !on || autoOff != nil, let lockedOnRefusal { return lockedOnRefusal }
            return on ? refusalToTurnOn(now) : nil
        case .setLevel(let level, let duration):
            if !can(.dimmer) {
                return Refusal(.unsupported, "This plug has no dimmer; it can only be turned on and off.")
            }
            if duration < .zero || duration > Self.longestTransition {
                return Refusal(.outOfRange, "The time of a transition is at most one hour.")
            }
            return level.permille > 0 ? refusalToTurnOn(now) : lockedOnRefusal
        case .resetProtection: return tooHotRefusal
        case .identify: return nil
        case .rename, .configure: preconditionFailure("PlugMachine carries out \(command)")
        }
    }

    /// The refusal for every request to turn on while a protection locks the relay open.
    var trippedRefusal: Refusal? {
        guard let tripped else { return nil }
        return Refusal(
            .protectionTripped,
            "The plug is locked, because \(tripped.reason). \(tripped.remedy), then press the plug's button or reset the protection: "
                + "plugctl reset --protection NAME.")
    }

    private func refusalToTurnOn(_ now: Instant) -> Refusal? {
        if let trippedRefusal { return trippedRefusal }
        guard !relayOn, let left = rest.left(now) else { return nil }
        let seconds = (left.wholeNanoseconds + 999_999_999) / 1_000_000_000
        return Refusal(.resting, "The load must rest for another \(seconds) s before it is turned on again.")
    }

    private var lockedOnRefusal: Refusal? {
        guard isLockedOn else { return nil }
        return .lockedOn
    }

    private var tooHotRefusal: Refusal? {
        guard tripped == .overTemperature, let tooHot = guards.tooHot else { return nil }
        return Refusal(
            .protectionTripped, "The plug is still too hot: \(tooHot / 10) °C. Let it cool down, then reset it.")
    }
}

extension PlugCommand {
    var turnsOn: Bool {
        switch self {
        case .setRelay(let on, _): on
        case .setLevel(let level, _): level.permille > 0
        case .identify, .resetProtection, .rename, .configure: false
        }
    }
}

extension Protection {
    fileprivate var reason: String {
        switch self {
        case .overPower, .overCurrent: "the load drew too much"
        case .overVoltage: "the voltage was too high"
        case .underVoltage: "the voltage was too low"
        case .overTemperature: "it got too hot inside"
        case .weldedRelay: "current flowed although its relay was open, and the plug cannot stop it"
        case .restTime: "the load has to rest"
        case .switchingRate: "it was switched more often than its relay allows"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .overPower, .overCurrent: "Reduce the load"
        case .overVoltage, .underVoltage: "Have the supply checked"
        case .overTemperature: "Let it cool down"
        case .weldedRelay: "Unplug the load and replace the plug; to continue anyway, check the load"
        case .restTime: "Wait"
        case .switchingRate: "Find the rule or program that switches it"
        }
    }
}
