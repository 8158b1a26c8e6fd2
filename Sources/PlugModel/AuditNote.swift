/// One thing that belongs into a plug's audit log: who changed, or tried to change, what the plug is and whom it obeys.
public struct AuditNote: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A controller was paired: the actor.
        case paired
        /// Somebody was not: the proof was wrong, or the plug did not let itself be paired.
        case pairingFailed
        /// A controller was removed: the detail names it.
        case removed
        /// A request that was refused, or a command.
        case refused
        case factoryReset
        case renamed, configured
        /// Another version of the firmware began.
        case firmware
        /// A controller has another role, or was invited under one.
        case roleChanged, invited
        /// The setup code is another one; so is the key of the plug or of the actor.
        case codeChanged, keyRotated
        /// Entries of this log were lost, because flash spoiled them or a loss of power cut them off.
        case lost
        /// One of a later version.
        case unknown
    }

    /// Bytes of a detail at most: two names and what is said about them.
    public static let longestDetail = 160

    public var kind: Kind
    public var actor: AuditActor
    /// It was refused; false: it was done.
    public var isRefused: Bool
    /// A few words, without control characters.
    public var detail: String

    /// What is too long is cut off, and a control character becomes a question mark.
    public init(_ kind: Kind, by actor: AuditActor, isRefused: Bool = false, _ detail: String = "") {
        self.kind = kind
        self.actor = actor.cleaned
        self.isRefused = isRefused
        self.detail = AuditText.cleaned(detail, atMost: Self.longestDetail)
    }
}

/// Who did, or tried to do something at a plug.
public enum AuditActor: Hashable, Sendable {
    /// A paired controller: the name given at pairing, and the first digits of its key's fingerprint.
    case controller(name: String, key: String)
    /// Somebody whose key the plug does not know, and its first digits.
    case stranger(key: String)
    /// Who held the plug's button.
    case button
    /// Who stood at the plug's own machine.
    case panel
    /// Somebody at the plug's MQTT broker.
    case broker
    /// A controller of HomeKit, or somebody who wanted to be one.
    case homeKit
    /// The plug's configuration, or the plug itself.
    case configuration, plug
    /// One of a later version.
    case unknown

    /// Digits of a fingerprint that an entry has: enough for a person to tell two keys apart.
    public static let keyDigits = 12

    fileprivate var cleaned: AuditActor {
        switch self {
        case .controller(let name, let key):
            .controller(
                name: AuditText.cleaned(name, atMost: PlugWire.maximumName),
                key: AuditText.cleaned(key, atMost: Self.keyDigits))
        case .stranger(let key): .stranger(key: AuditText.cleaned(key, atMost: Self.keyDigits))
        case .button, .panel, .broker, .homeKit, .configuration, .plug, .unknown: self
        }
    }
}

/// Text of others, in one line of a file or of a terminal.
enum AuditText {
    static func cleaned(_ text: String, atMost limit: Int) -> String {
        var cleaned = ""
        for scalar in text.unicodeScalars {
            let isControl = scalar.properties.generalCategory == .control
            cleaned.unicodeScalars.append(isControl ? "?" : scalar)
        }
        // No character is cut in two.
        while cleaned.utf8.count > limit { cleaned.unicodeScalars.removeLast() }
        return cleaned
    }
}
