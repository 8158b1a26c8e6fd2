public import PlugModel

extension Protection {
    /// The detected fault in words for the user.
    public var words: String {
        switch self {
        case .overPower: "the load drew too much power"
        case .overCurrent: "the load drew too much current"
        case .overVoltage: "the voltage is too high"
        case .underVoltage: "the voltage is too low"
        case .overTemperature: "the plug is too hot inside"
        case .weldedRelay: "current flows although the relay is off, so the plug cannot turn the load off: unplug it"
        case .restTime: "the load has not rested long enough since it was turned off"
        case .switchingRate: "the plug was switched too often in a short time"
        }
    }
}

extension Refusal.Code {
    /// Returns the hint for the user, if there is one.
    public func hint(for plug: String) -> String? {
        switch self {
        case .protectionTripped:
            "remove the cause, then press the plug's button or run `plugctl reset \"\(plug)\" --protection`"
        case .lockedOn: "to allow turning it off, change `power_on` in the plug's plugd.toml"
        case .resting: "try again later; the plug's plugd.toml sets the rest time and the maximum switching rate"
        case .unsupported: "`plugctl info \"\(plug)\"` shows its capabilities"
        case .storageFailed: "`plugctl logs \"\(plug)\"` shows the cause"
        case .notAllowed:
            "an owner can change the role of this controller with `plugctl controllers \"\(plug)\" --change`"
        case .notPaired, .outOfRange, .busy, .deadlinePassed, .unknown: nil
        }
    }
}
