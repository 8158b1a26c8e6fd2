public import PlugModel

extension Protection {
    /// The detected fault in words for the user.
    public var words: String {
        switch self {
        case .overPower: "what is plugged in drew too much power"
        case .overCurrent: "what is plugged in drew too much current"
        case .overVoltage: "the voltage is too high"
        case .underVoltage: "the voltage is too low"
        case .overTemperature: "the plug is too hot inside"
        case .weldedRelay: "current flows although the relay is off, so the plug cannot turn it off: unplug it"
        case .restTime: "what is plugged in has not rested long enough since it was turned off"
        case .switchingRate: "it was switched too often in a short time"
        }
    }
}

extension Refusal.Code {
    /// Returns the hint for the user, if there is one.
    public func hint(for plug: String) -> String? {
        switch self {
        case .protectionTripped:
            "when the cause is gone, press the plug's button or run `plugctl reset \"\(plug)\" --protection`"
        case .lockedOn: "`power_on` in the plug's own plugd.toml says so; another value lets it be turned off"
        case .resting: "try again later; the plug's own plugd.toml says how long it rests and how often it may switch"
        case .unsupported: "`plugctl info \"\(plug)\"` shows what it can do"
        case .storageFailed: "`plugctl logs \"\(plug)\"` says what is wrong with it"
        case .notAllowed:
            "an owner changes it with `plugctl controllers \"\(plug)\" --change` and this controller's name"
        case .notPaired, .outOfRange, .busy, .deadlinePassed, .unknown: nil
        }
    }
}
