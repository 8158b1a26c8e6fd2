/// An action that a plug records in its audit log: a change, or an attempted change, of its configuration or its access
/// rights.
public struct AuditNote: Hashable, Sendable {
    /// The kind of a recorded action.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The plug paired with the actor, a controller.
        case paired
        /// The plug rejected a pairing: the proof was wrong, the plug did not accept pairings, or it already had the
        /// maximum number of controllers.
        case pairingFailed
        /// The plug removed the controller that the detail names.
        case removed
        /// The plug refused a request or a command.
        case refused
        /// A factory reset.
        case factoryReset
        /// A change of the name, or of the settings.
        case renamed, configured
        /// The first start of a new firmware version, or a controller's request to receive one or to restart with it.
        case firmware
        /// A change of a controller's role, or an invitation for a role.
        case roleChanged, invited
        /// A change of the setup code, or of a current or announced key: the plug's or the actor's.
        case codeChanged, keyRotated
        /// Hosts on the internet can connect, at the address and port in the detail; or they no longer can.
        case reachable, unreachable
        /// Entries of this log were lost to corrupt flash or a power failure.
        case lost
        /// A kind that this version does not know.
        case unknown
    }

    /// The maximum length of ``detail`` in bytes. Two names and a few words fit.
    public static let longestDetail = 160

    /// The kind of the action.
    public var kind: Kind
    /// The actor that caused the action.
    public var actor: AuditActor
    /// True if the plug refused the action, false if it performed it.
    public var isRefused: Bool
    /// A few words for a person, without control characters, at most ``longestDetail`` bytes.
    public var detail: String

    /// Creates a note. Texts that are too long are truncated, and each control character becomes a question mark.
    public init(_ kind: Kind, by actor: AuditActor, isRefused: Bool = false, _ detail: String = "") {
        self.kind = kind
        self.actor = actor.cleaned
        self.isRefused = isRefused
        self.detail = AuditText.cleaned(detail, atMost: Self.longestDetail)
    }
}

/// The actor that changed a plug, or tried to.
public enum AuditActor: Hashable, Sendable {
    /// A paired controller: its name from pairing, and the first ``keyDigits`` digits of its key's fingerprint.
    case controller(name: String, key: String)
    /// A peer whose key is not paired, with the first ``keyDigits`` digits of the key's fingerprint.
    case stranger(key: String)
    /// A person at the plug's button.
    case button
    /// A user of the plug's local panel.
    case panel
    /// A client of the plug's MQTT broker.
    case broker
    /// A HomeKit controller, paired or not.
    case homeKit
    /// A Matter controller, commissioned or not.
    case matter
    /// The plug's configuration file, or the plug on its own.
    case configuration, plug
    /// An actor that this version does not know.
    case unknown

    /// The number of fingerprint digits in an entry, enough for a person to distinguish two keys.
    public static let keyDigits = 12

    fileprivate var cleaned: AuditActor {
        switch self {
        case .controller(let name, let key):
            .controller(
                name: AuditText.cleaned(name, atMost: PlugWire.maximumName),
                key: AuditText.cleaned(key, atMost: Self.keyDigits))
        case .stranger(let key): .stranger(key: AuditText.cleaned(key, atMost: Self.keyDigits))
        case .button, .panel, .broker, .homeKit, .matter, .configuration, .plug, .unknown: self
        }
    }
}

/// Text from a peer, cleaned so that it fits on one line of a file or a terminal.
enum AuditText {
    static func cleaned(_ text: String, atMost limit: Int) -> String {
        var cleaned = ""
        for scalar in text.unicodeScalars {
            let isControl = scalar.properties.generalCategory == .control
            cleaned.unicodeScalars.append(isControl ? "?" : scalar)
        }
        // Removes whole scalars, so that the result stays valid UTF-8.
        while cleaned.utf8.count > limit { cleaned.unicodeScalars.removeLast() }
        return cleaned
    }
}
