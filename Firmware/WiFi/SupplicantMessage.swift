public import PlugModel
import ProtocolCore

/// A datagram of wpa_supplicant's control interface: the answer to a command, or an event.
enum SupplicantMessage: Hashable {
    case answer(String)
    case event(SupplicantEvent)

    /// Events begin with their level, such as `<3>`.
    init(_ text: String) {
        guard text.first == "<", let end = text.firstIndex(of: ">") else {
            self = .answer(text)
            return
        }
        self = .event(SupplicantEvent(text[text.index(after: end)...]))
    }
}

/// An event of wpa_supplicant, as far as the plug needs it (wpa_supplicant's wpa_ctrl.h).
enum SupplicantEvent: Hashable {
    /// The access point with this hardware address accepted the plug, for the network with this number.
    case connected(accessPoint: String, network: Int?)
    case disconnected
    case scanned
    case scanFailed
    /// No access point has one of the enabled networks.
    case notFound
    /// The access point rejected the plug.
    case rejected
    case wrongPassword
    /// The plug's own network is open, or is closed.
    case opened, closed
    /// wpa_supplicant ends.
    case terminating
    case other

    init(_ text: Substring) {
        let words = text.split(separator: " ")
        switch words.first {
        case "CTRL-EVENT-CONNECTED":
            let address = words.firstIndex(of: "to").map { words.index(after: $0) }
            let network = words.lazy.compactMap { $0.hasPrefix("[id=") ? Int($0.dropFirst(4)) : nil }.first
            let accessPoint = address.flatMap { words.indices.contains($0) ? String(words[$0]) : nil }
            self = .connected(accessPoint: String((accessPoint ?? "").prefix(17)), network: network)
        case "CTRL-EVENT-DISCONNECTED": self = .disconnected
        case "CTRL-EVENT-SCAN-RESULTS": self = .scanned
        case "CTRL-EVENT-SCAN-FAILED": self = .scanFailed
        case "CTRL-EVENT-NETWORK-NOT-FOUND": self = .notFound
        case "CTRL-EVENT-ASSOC-REJECT", "CTRL-EVENT-AUTH-REJECT": self = .rejected
        case "CTRL-EVENT-SSID-TEMP-DISABLED" where words.contains("reason=WRONG_KEY"): self = .wrongPassword
        case "AP-ENABLED": self = .opened
        case "AP-DISABLED": self = .closed
        case "CTRL-EVENT-TERMINATING": self = .terminating
        default: self = .other
        }
    }
}

/// A network that the radio found.
public struct FoundNetwork: Hashable, Sendable {
    /// The requirement for joining a network.
    public enum Security: Hashable, Sendable {
        /// Nothing.
        case open
        /// A password (WPA2 or WPA3).
        case password
        /// Something that the plug does not support, such as a user name, WEP or the first WPA.
        case unsupported
    }

    /// The name.
    public var name: WiFiName
    /// The strength of the signal in dBm, negative.
    public var signal: Int
    /// The required security.
    public var security: Security
    /// The number of access points with this name.
    public var accessPoints = 1

    /// Creates a network with one access point.
    public init(_ name: WiFiName, signal: Int, security: Security) {
        (self.name, self.signal, self.security) = (name, signal, security)
    }

    /// The limit of networks in a list. An attacker can announce any number.
    static let limit = 32

    /// Reads the answer to SCAN_RESULTS: a heading, then per access point its address, frequency, signal, flags and name,
    /// separated by tabs. Lines with other content are skipped.
    ///
    /// - Returns: each name once, the strongest first, at most ``limit``.
    static func list(_ text: String) -> [FoundNetwork] {
        var strongest: [WiFiName: FoundNetwork] = [:]
        for line in text.split(separator: "\n").dropFirst() {
            let columns = line.split(separator: "\t", maxSplits: 4, omittingEmptySubsequences: false)
            guard columns.count == 5, let signal = Int(columns[2]), (-200...0).contains(signal),
                let bytes = SupplicantText.bytes(of: columns[4]), let name = WiFiName(bytes: bytes),
                // A hidden network announces zeros.
                name.bytes.contains(where: { $0 != 0 })
            else { continue }
            let new = FoundNetwork(name, signal: signal, security: Security(flags: columns[3]))
            let known = strongest[name]
            strongest[name] = known.map { $0.signal >= signal ? $0 : new } ?? new
            strongest[name]?.accessPoints = (known?.accessPoints ?? 0) + 1
        }
        return Array(
            strongest.values.sorted { ($1.signal, $0.name.description) < ($0.signal, $1.name.description) }
                .prefix(limit))
    }
}

extension FoundNetwork.Security {
    /// Reads flags such as `[WPA2-PSK+SAE-CCMP][ESS]`.
    fileprivate init(flags: Substring) {
        let kinds = flags.split { "[]".contains($0) }
        if kinds.contains(where: {
            ($0.hasPrefix("WPA2-") || $0.hasPrefix("RSN-")) && ($0.contains("PSK") || $0.contains("SAE"))
        }) {
            self = .password
        } else {
            self =
                kinds.contains { $0.hasPrefix("WPA") || $0.hasPrefix("RSN") || $0 == "WEP" || $0.hasPrefix("OWE") }
                ? .unsupported : .open
        }
    }
}

/// The notations of wpa_supplicant.
enum SupplicantText {
    /// Returns the bytes of an escaped text: `\n`, `\r`, `\t`, `\e`, `\"`, `\\` and `\xNN`. Nil if an escape is not valid.
    static func bytes(of text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "n"): bytes.append(10)
            case UInt8(ascii: "r"): bytes.append(13)
            case UInt8(ascii: "t"): bytes.append(9)
            case UInt8(ascii: "e"): bytes.append(27)
            case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "\""): bytes.append(UInt8(ascii: "\""))
            case UInt8(ascii: "x"):
                guard rest.count >= 2, let value = HexadecimalText.bytes(of: rest.prefix(2)) else { return nil }
                bytes += value
                rest = rest.dropFirst(2)
            default: return nil
            }
        }
        return bytes
    }

    /// Returns the value of a line NAME=VALUE; nil if the line is missing.
    static func value(_ name: String, in text: String) -> Substring? {
        text.split(separator: "\n").first { $0.hasPrefix(name + "=") }?.dropFirst(name.utf8.count + 1)
    }
}
