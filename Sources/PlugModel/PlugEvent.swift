public import ProtocolCore

/// The number of an event. Numbers start at 1 and never repeat in the life of a plug.
public typealias SequenceNumber = UInt64

/// An event of a plug. The plug records it in its journal and delivers it in order to every subscriber.
public struct PlugEvent: Hashable, Sendable {
    /// The kind of an event.
    public enum Kind: Hashable, Sendable {
        /// The relay changed.
        case relayChanged(on: Bool, cause: RelayCause)
        /// A person pressed the button.
        case buttonPressed(ButtonPress)
        /// A protection tripped.
        case protectionTripped(Protection)
        /// A protection was reset deliberately, by the button or a controller.
        case protectionReset(Protection, cause: RelayCause)
        /// The firmware started. `powerLost` is false if only the firmware restarted.
        case restarted(powerLost: Bool)
        /// A peer sent a wrong pairing proof. `failures` counts the wrong proofs since the last correct one or the last
        /// long press of the button.
        case pairingFailed(failures: UInt32)
        /// A controller paired with the plug.
        case controllerPaired(name: String)
        /// A controller was removed.
        case controllerRemoved(name: String)
    }

    /// The number of the event.
    public var sequence: SequenceNumber
    /// The boot that ``time`` belongs to.
    public var boot: BootID
    /// The time of the event on the plug's clock.
    public var time: Instant
    /// The kind of the event.
    public var kind: Kind

    /// Creates an event.
    public init(sequence: SequenceNumber, boot: BootID, time: Instant, kind: Kind) {
        self.sequence = sequence
        self.boot = boot
        self.time = time
        self.kind = kind
    }
}

/// The cause of a relay change or of a protection's reset.
public enum RelayCause: Hashable, Sendable {
    /// The plug's button.
    case button
    /// A command with this request id from this controller.
    case controller(name: String, request: RequestID, authority: AuthorityID = .unknown)
    /// A protection of the plug.
    case protection
    /// The auto-off timer expired.
    case timer
    /// The plug started and applied its power-on state.
    case powerOn
}

/// The way in which a person pressed the button.
public enum ButtonPress: String, Hashable, Sendable, CaseIterable {
    case single, double, long
}

/// A protection of the plug and its load.
public enum Protection: String, Hashable, Sendable, CaseIterable {
    case overPower, overCurrent, overVoltage, underVoltage
    /// The temperature inside the plug is too high.
    case overTemperature
    /// Current flows although the relay is open, so the plug cannot turn off its load.
    case weldedRelay
    /// The load has not rested long enough since it was turned off. Compressors need this time.
    case restTime
    /// The relay was switched more often than its wear limit allows.
    case switchingRate
}
