/// What a controller can ask of a plug. Every command is absolute, so doing it twice is doing it once.
public enum PlugCommand: Hashable, Sendable {
    /// `autoOff`: turn off again after so long; nil stays on.
    case setRelay(on: Bool, autoOff: Duration?)
    /// Level 0 also turns the relay off, more turns it on. The way there takes `transition`, at most an hour.
    case setLevel(DimLevel, transition: Duration)
    /// Blink the light, so that a person sees which plug this is.
    case identify
    /// Reset what tripped, so that the plug can be turned on again. It stays off.
    case resetProtection
    /// Take this name, over every restart, until a factory reset; one that is taken gets a number.
    case rename(String)
    /// Change settings, over every restart, until a factory reset.
    case configure(SettingsChange)
}

/// The plug's answer to a command.
public enum CommandOutcome: Hashable, Sendable {
    /// The state that resulted, and the event that records the change; nil where nothing changed.
    case done(PlugState, event: SequenceNumber?)
    case refused(Refusal)
}

/// Why a plug did not carry out a command.
public struct Refusal: Error, Hashable, Sendable {
    public enum Code: String, Hashable, Sendable, CaseIterable {
        case notPaired, protectionTripped, unsupported, outOfRange, busy, deadlinePassed
        /// The plug is set up never to turn off.
        case lockedOn
        /// It was turned off too short a time ago, or switched too often: later.
        case resting
        /// Its flash could not be written; everything is as it was.
        case storageFailed
        /// The role of the controller at this plug does not allow it.
        case notAllowed
        /// A code that this version does not know.
        case unknown
    }

    public var code: Code
    /// A sentence for a person.
    public var detail: String

    public init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }
}
