public import ProtocolCore

/// The number of an event: it never repeats in the life of a plug, and starts at 1.
public typealias SequenceNumber = UInt64

/// Something that happened at a plug once, recorded in its journal and delivered in order to everyone who listens.
public struct PlugEvent: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case relayChanged(on: Bool, cause: RelayCause)
        case buttonPressed(ButtonPress)
        case protectionTripped(Protection)
        /// Somebody reset it deliberately: the button, or a controller.
        case protectionReset(Protection, cause: RelayCause)
        case restarted(powerLost: Bool)
        /// Somebody did not know the setup code: so many times since it was right last.
        case pairingFailed(failures: UInt32)
        case controllerPaired(name: String)
        case controllerRemoved(name: String)
    }

    public var sequence: SequenceNumber
    /// The boot that ``time`` belongs to.
    public var boot: BootID
    /// When it happened on the plug's clock.
    public var time: Instant
    public var kind: Kind

    public init(sequence: SequenceNumber, boot: BootID, time: Instant, kind: Kind) {
        self.sequence = sequence
        self.boot = boot
        self.time = time
        self.kind = kind
    }
}

/// What made a relay change, or who reset a protection.
public enum RelayCause: Hashable, Sendable {
    case button
    /// A command of this controller, which named the request so.
    case controller(name: String, request: RequestID, authority: AuthorityID = .unknown)
    case protection
    /// The auto-off timer ran out.
    case timer
    /// The plug started and took its power-on state.
    case powerOn
}

public enum ButtonPress: String, Hashable, Sendable, CaseIterable {
    case single, double, long
}

/// What a plug protects itself and its load from.
public enum Protection: String, Hashable, Sendable, CaseIterable {
    case overPower, overCurrent, overVoltage, underVoltage
    /// Inside the plug.
    case overTemperature
    /// Current flows although the relay is open: the plug cannot turn off what it feeds.
    case weldedRelay
    /// What it feeds has not rested long enough since it was turned off, as a compressor must.
    case restTime
    /// The relay was asked to switch more often than is good for it.
    case switchingRate
}
