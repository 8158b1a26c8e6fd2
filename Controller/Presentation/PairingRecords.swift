public import PlugClient
public import PlugModel
import PlugProtocol

/// The output of `plugctl pair --json`.
public struct PairedRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The plug's id.
    public var id: String
    /// The SHA-256 fingerprint of the plug's key in hexadecimal digits.
    public var fingerprint: String

    /// Creates the record of a paired plug.
    public init(_ entry: PairedPlugs.Entry) {
        plug = entry.name
        id = entry.id.rawValue
        fingerprint = entry.key.fingerprint
    }

    /// Text for the user.
    public var text: String { "\(plug): paired; its key is \(shortened(fingerprint))" }
}

/// A line of `plugctl controllers --json`.
public struct ControllerRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The controller's name.
    public var name: String
    /// The SHA-256 fingerprint of the controller's key in hexadecimal digits.
    public var fingerprint: String
    /// True if the controller has a session with the plug now.
    public var connected: Bool
    /// True for the controller of the request; `self` in JSON.
    public var isAsker: Bool
    /// The controller's role: owner, user, viewer or guest; omitted if the plug's firmware does not report roles.
    public var role: String?
    /// Seconds until the plug removes the controller, counted while the plug has power; omitted if the pairing is
    /// unlimited.
    public var secondsLeft: UInt32?

    private enum CodingKeys: String, CodingKey {
        case plug, name, fingerprint, connected, role, secondsLeft
        case isAsker = "self"
    }

    /// Creates the record of an entry in the plug's list.
    public init(_ entry: PairedControllerEntry, plug: String) {
        self.plug = plug
        name = entry.name
        fingerprint = entry.fingerprint
        connected = entry.isConnected
        isAsker = entry.isAsker
        role = entry.role?.rawValue
        secondsLeft = entry.secondsLeft
    }

    /// Text for the user.
    public var text: String {
        let remarks = [
            isAsker ? "this one" : nil, connected ? "connected" : nil, secondsLeft.map { "for \(roughTime($0)) more" },
        ].compactMap(\.self)
        let column = (role ?? "?") + String(repeating: " ", count: max(0, 6 - (role ?? "?").count))
        return "\(shortened(fingerprint))  \(column)  \(name)"
            + (remarks.isEmpty ? "" : "  (\(remarks.joined(separator: ", ")))")
    }
}

/// The output of `plugctl invite --json`.
public struct InvitationRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The plug's id.
    public var id: String
    /// The role of the new controller.
    public var role: String
    /// The seconds for which the new controller stays paired; omitted if the pairing is unlimited.
    public var seconds: UInt32?
    /// The seconds for which the code is valid.
    public var validSeconds: Int64
    /// The code without separators.
    public var code: String
    /// The text of its QR code.
    public var scanned: String

    /// Creates the record of an invitation.
    ///
    /// - Parameters:
    ///   - code: the code of the invitation.
    ///   - grant: the role and duration of the new pairing.
    ///   - valid: the time for which the code is valid.
    ///   - plug: the plug's name.
    ///   - id: the plug's id.
    public init(_ code: SetupCode, as grant: Grant, valid: Duration, plug: String, id: PlugID) {
        self.plug = plug
        self.id = id.rawValue
        role = grant.role.rawValue
        seconds = grant.seconds
        validSeconds = valid.components.seconds
        self.code = code.text
        scanned = code.scannedText(id)
    }

    /// Text for the user.
    public var lines: [String] {
        let time = seconds.map { " for \(roughTime($0))" } ?? ""
        return [
            "code  \(code)",
            "The first controller that runs `plugctl pair \"\(plug)\"` with this code within "
                + "\(roughTime(UInt32(clamping: validSeconds))) becomes \(Role(rawValue: role)?.described ?? role) of the plug\(time).",
        ]
    }
}

/// One line of `plugctl invitations --json`.
public struct OpenInvitationRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The number of the invitation.
    public var number: UInt32
    /// The role of the new controller; nil for a role that this version does not know.
    public var role: String?
    /// The seconds for which the new controller stays paired; nil if the pairing is unlimited.
    public var seconds: UInt32?
    /// The seconds until the invitation expires.
    public var validSeconds: UInt32
    /// The name of the controller that created the invitation.
    public var author: String
    /// True if this controller created it; `self` in JSON.
    public var isOwn: Bool

    enum CodingKeys: String, CodingKey {
        case plug, number, role, seconds, validSeconds, author
        case isOwn = "self"
    }

    /// Creates the record of an invitation.
    public init(_ invitation: OpenInvitation, plug: String) {
        self.plug = plug
        number = invitation.number
        role = invitation.role?.rawValue
        seconds = invitation.seconds
        validSeconds = invitation.secondsLeft
        author = invitation.author
        isOwn = invitation.isOwn
    }

    /// Text for the user.
    public var text: String {
        let time = seconds.map { " for \(roughTime($0))" } ?? ""
        let maker = isOwn ? "this controller" : author
        return "\(number)  \(role ?? "?")\(time)  created by \(maker), expires in \(roughTime(validSeconds))"
    }
}

/// The output of `plugctl new-code --json`.
public struct SetupCodeRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The plug's id.
    public var id: String
    /// The code without separators.
    public var code: String
    /// The text of its QR code.
    public var scanned: String

    /// Creates the record of a new setup code.
    public init(_ code: SetupCode, plug: String, id: PlugID) {
        self.plug = plug
        self.id = id.rawValue
        self.code = code.text
        scanned = code.scannedText(id)
    }

    /// Text for the user.
    public var lines: [String] {
        [
            "code  \(code)",
            "This is the new setup code of \(plug). The previous code, also the one on its label, is no longer valid.",
        ]
    }
}

/// Formats a time in one unit, rounded down: "2 d", "5 h".
func roughTime(_ seconds: UInt32) -> String {
    switch seconds {
    case 0..<60: "\(seconds) s"
    case 60..<3600: "\(seconds / 60) min"
    case 3600..<172_800: "\(seconds / 3600) h"
    case _: "\(seconds / 86_400) d"
    }
}

/// Shortens a fingerprint to a length that distinguishes keys for the user.
private func shortened(_ fingerprint: String) -> String { String(fingerprint.prefix(16)) }

/// The result of `plugctl rotate-key` for one plug, which should receive this controller's next key.
public struct KeyDistributionRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The plug's id.
    public var id: String
    /// True if the plug has the next key.
    public var knows: Bool
    /// The reason why it does not have the key.
    public var why: String?

    /// Creates the record of a plug.
    ///
    /// - Parameter why: the reason, of which the first line is used; nil if the plug has the key.
    public init(_ entry: PairedPlugs.Entry, why: String?) {
        plug = entry.name
        id = entry.id.rawValue
        knows = why == nil
        self.why = why.map { String($0.prefix { !$0.isNewline }) }
    }

    /// Text for the user.
    public var text: String { "\(plug): " + (why ?? "has the next key") }
}

/// The result of `plugctl rotate-key`.
public struct KeyRotationRecord: Codable, Hashable, Sendable {
    /// True if the controller uses the new key now.
    public var rotated: Bool
    /// The SHA-256 fingerprint of the key in use in hexadecimal digits.
    public var fingerprint: String

    /// Creates the record of a rotation.
    public init(rotated: Bool, key: PublicKey) {
        self.rotated = rotated
        fingerprint = key.fingerprint
    }

    /// Text for the user.
    public var text: String {
        rotated
            ? "this controller has a new key: \(shortened(fingerprint))"
            : "the key of this controller stays \(shortened(fingerprint)) until all plugs have the next one; "
                + "run this command again when the plugs are reachable"
    }
}
