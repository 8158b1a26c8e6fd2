import LinuxSystem
public import PlugClient
import PlugModel

/// One line of `plugctl audit --json`. The keys are part of the contract with scripts. Keys without a value are
/// omitted.
public struct AuditRecord: Encodable, Equatable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The number of the entry, which increases with each entry. Numbers may be missing, because the plug removes
    /// entries of some kinds earlier than others.
    public var number: UInt64
    /// The time in ISO 8601, UTC, milliseconds, on the controller's clock. Omitted for an earlier boot of the plug.
    public var at: String?
    /// The kind of the entry: paired, pairingFailed, removed, refused, factoryReset, renamed, configured, firmware,
    /// roleChanged, invited, codeChanged, keyRotated, lost, reachable, unreachable; unknown for kinds of a later version.
    public var kind: String
    /// The result: done or refused.
    public var outcome: String
    /// The actor: controller, stranger, button, panel, broker, homekit, matter, configuration, plug; unknown for
    /// actors of a later version.
    public var by: String
    /// Only if `by` is controller: its name at pairing.
    public var name: String?
    /// Only if `by` is controller or stranger: the first twelve digits of its key's fingerprint.
    public var key: String?
    /// Details in words.
    public var detail: String?
    /// The number of occurrences within an hour from `at`.
    public var count: UInt32
    private let localTime: String?

    private enum CodingKeys: String, CodingKey { case plug, number, at, kind, outcome, by, name, key, detail, count }

    /// Creates the record of an entry of the plug with this name.
    public init(_ dated: DatedAuditEntry, plug: String) {
        let note = dated.entry.note
        self.plug = plug
        number = dated.entry.number
        at = dated.at?.iso8601()
        localTime = dated.at.map { String($0.iso8601(offset: $0.localOffset).prefix(16).replacing("T", with: " ")) }
        kind = note.kind.rawValue
        outcome = note.isRefused ? "refused" : "done"
        detail = note.detail.isEmpty ? nil : note.detail
        count = dated.entry.count
        switch note.actor {
        case .controller(let given, let digits): (by, name, key) = ("controller", given, digits)
        case .stranger(let digits): (by, key) = ("stranger", digits)
        case .button: by = "button"
        case .panel: by = "panel"
        case .broker: by = "broker"
        case .homeKit: by = "homekit"
        case .matter: by = "matter"
        case .configuration: by = "configuration"
        case .plug: by = "plug"
        case .unknown: by = "unknown"
        }
    }

    /// Text for the user: `2026-11-23 14:05  paired          Desk (3f9a02bc71de)`.
    public var text: String {
        let words = [Self.padded(localTime ?? "in an earlier boot", to: 18), Self.padded(did, to: 16), who]
        let times = count > 1 ? "\(count) times" : nil
        return (words + [detail, times].compactMap(\.self)).joined(separator: "  ")
    }

    private var did: String {
        switch kind {
        case "pairingFailed": "pairing failed"
        case "factoryReset": outcome == "done" ? "factory reset" : "reset failed"
        case "roleChanged": "role changed"
        case "codeChanged": "code changed"
        case "keyRotated": "key rotated"
        case "lost": "entries lost"
        case "unknown": "unknown"
        default: kind
        }
    }

    private var who: String {
        let mark = key.map { " (\($0))" } ?? ""
        return (by == "stranger" ? "unpaired client" : name ?? "by \(by)") + mark
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
