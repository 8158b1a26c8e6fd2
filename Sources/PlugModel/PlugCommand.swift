/// A command to a plug. Commands set a state and never toggle it, so a repetition does not change the state again.
public enum PlugCommand: Hashable, Sendable {
    /// Turns the relay on or off. After `autoOff` the plug turns it off again; with nil the plug's own setting applies.
    case setRelay(on: Bool, autoOff: Duration?)
    /// Sets the dim level over the time `transition`, at most an hour. Level 0 also turns the relay off, any other
    /// level turns it on.
    case setLevel(DimLevel, transition: Duration)
    /// Blinks the light, so that a person can identify the plug.
    case identify
    /// Resets a tripped protection, so that the plug can be turned on again. The relay stays off.
    case resetProtection
    /// Renames the plug until the next factory reset. If the name is in use, the plug appends a number.
    case rename(String)
    /// Changes settings until the next factory reset.
    case configure(SettingsChange)
}

/// The plug's answer to a command.
public enum CommandOutcome: Hashable, Sendable {
    /// The resulting state, and the event that records the change; nil if nothing changed.
    case done(PlugState, event: SequenceNumber?)
    /// The plug did not execute the command.
    case refused(Refusal)
}

/// The reason why a plug did not execute a command.
public struct Refusal: Error, Hashable, Sendable {
    /// The code of a refusal (`RefusalCode` in pairing.proto).
    public enum Code: String, Hashable, Sendable, CaseIterable {
        case notPaired, protectionTripped, unsupported, outOfRange, busy, deadlinePassed
        /// The plug is configured never to turn off.
        case lockedOn
        /// The relay was turned off too recently, or switched too often. The controller may retry later.
        case resting
        /// The plug could not write its flash. Nothing has changed.
        case storageFailed
        /// The controller's role at this plug does not permit the command.
        case notAllowed
        /// A code that this version does not know.
        case unknown
    }

    /// The code, for programs.
    public var code: Code
    /// A sentence for a person.
    public var detail: String

    /// Creates a refusal with a code for programs and a sentence for a person.
    public init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }
}
