public import PlugClient
public import PlugModel
import PlugProtocol

/// What `plugctl pair --json` prints.
public struct PairedRecord: Codable, Hashable, Sendable {
    public var plug: String
    public var id: String
    /// SHA-256 of the plug's key, in hexadecimal digits.
    public var fingerprint: String

    public init(_ entry: PairedPlugs.Entry) {
        plug = entry.name
        id = entry.id.rawValue
        fingerprint = entry.key.fingerprint
    }

    /// For a person.
    public var text: String { "\(plug): paired; its key is \(shortened(fingerprint))" }
}

/// A line of `plugctl controllers --json`.
public struct ControllerRecord: Codable, Hashable, Sendable {
    public var plug: String
    public var name: String
    /// SHA-256 of the controller's key, in hexadecimal digits.
    public var fingerprint: String
    public var connected: Bool
    /// The one that asked; `self` in JSON.
    public var isAsker: Bool

    private enum CodingKeys: String, CodingKey {
        case plug, name, fingerprint, connected
        case isAsker = "self"
    }

    public init(_ entry: PairedControllerEntry, plug: String) {
        self.plug = plug
        name = entry.name
        fingerprint = entry.fingerprint
        connected = entry.isConnected
        isAsker = entry.isAsker
    }

    /// For a person.
    public var text: String {
        let remarks = [isAsker ? "this one" : nil, connected ? "connected" : nil].compactMap(\.self)
        return "\(shortened(fingerprint))  \(name)" + (remarks.isEmpty ? "" : "  (\(remarks.joined(separator: ", ")))")
    }
}

/// Enough for a person to tell two keys apart.
private func shortened(_ fingerprint: String) -> String { String(fingerprint.prefix(16)) }
