import PlugModel
import ProtocolCore

@testable import WiFi

/// wpa_supplicant with its radio, in virtual time: the commands and events that the plug uses, as version 2.10 answers
/// them.
struct SimulatedSupplicant {
    /// An access point within reach.
    struct AccessPoint {
        var name: String
        /// Nil for one without a password.
        var password: String?
        var address = "02:00:00:00:01:00"
        var signal = -50
        /// False for one that never answers.
        var answers = true
    }

    private struct Network {
        var settings: [String: String] = [:]
        var isEnabled = false
    }

    /// The network with the plug's own name that the radio serves, or nil.
    private(set) var served: String?
    /// The network that the radio has joined, or nil.
    private(set) var joined: String?
    var accessPoints: [AccessPoint] = []
    var isRunning = true
    /// The start of a command that is refused, such as "SET_NETWORK 0 bgscan".
    var refuses: String?
    private var networks: [Network] = []
    private var isAttached = false
    private var scans = false
    private(set) var savesPower = true
    /// The commands so far.
    private(set) var commands: [String] = []
    /// Events that occur later.
    private(set) var due: [(at: Instant, text: String)] = []

    var nextDeadline: Instant? { due.map(\.at).min() }

    /// Returns the answer to a command.
    mutating func answer(_ command: String, now: Instant) -> String {
        commands.append(command)
        if let refuses, command.hasPrefix(refuses) { return "FAIL\n" }
        let words = command.split(separator: " ", maxSplits: 3).map(String.init)
        switch words[0] {
        case "ATTACH":
            isAttached = true
            return "OK\n"
        case "DETACH":
            defer { isAttached = false }
            return isAttached ? "OK\n" : "FAIL\n"
        case "LIST_NETWORKS":
            return "network id / ssid / bssid / flags\n"
                + networks.enumerated().map { "\($0)\t\(name(of: $1))\tany\t\n" }.joined()
        case "STATUS":
            return joined.map { "bssid=02:00:00:00:01:00\nssid=\($0)\nwpa_state=COMPLETED\n" }
                ?? "wpa_state=INACTIVE\n"
        case "SIGNAL_POLL": return joined == nil ? "FAIL\n" : "RSSI=-47\nLINKSPEED=54\nFREQUENCY=2437\n"
        case "REMOVE_NETWORK":
            if served != nil { tell("AP-DISABLED", now) }
            if joined != nil { tell("CTRL-EVENT-DISCONNECTED bssid=02:00:00:00:01:00 reason=3", now) }
            (served, joined, networks) = (nil, nil, [])
            // Attempts of removed networks end. Their events may still arrive.
            due.removeAll { $0.text.hasPrefix("CTRL-EVENT-SSID") || $0.text.hasPrefix("CTRL-EVENT-NETWORK") }
            return "OK\n"
        case "SCAN":
            scans = true
            tell("CTRL-EVENT-SCAN-RESULTS ", now + .seconds(3))
            return "OK\n"
        case "SCAN_RESULTS":
            return "bssid / frequency / signal level / flags / ssid\n"
                + accessPoints.map { point in
                    let flags = point.password == nil ? "[ESS]" : "[WPA2-PSK-CCMP][ESS]"
                    return "\(point.address)\t2412\t\(point.signal)\t\(flags)\t\(point.name)\n"
                }.joined()
        case "ADD_NETWORK":
            networks.append(Network())
            return "\(networks.count - 1)\n"
        case "SET_NETWORK":
            guard words.count == 4, let number = Int(words[1]), networks.indices.contains(number) else {
                return "FAIL\n"
            }
            networks[number].settings[words[2]] = words[3]
            return "OK\n"
        case "SELECT_NETWORK", "ENABLE_NETWORK":
            guard words.count == 2, let number = Int(words[1]), networks.indices.contains(number) else {
                return "FAIL\n"
            }
            networks[number].isEnabled = true
            if networks[number].settings["mode"] == "2" {
                served = name(of: networks[number])
                tell("AP-ENABLED ", now + .milliseconds(500))
            } else if joined == nil {
                attempt(now)
            }
            return "OK\n"
        case "SET":
            if words.count > 2, words[1] == "ps" { savesPower = words[2] == "1" }
            return "OK\n"
        default: return "UNKNOWN COMMAND\n"
        }
    }

    /// Returns the events that are due. Without a listener they are lost.
    mutating func take(now: Instant) -> [String] {
        let ready = due.filter { $0.at <= now }
        due.removeAll { $0.at <= now }
        var texts: [String] = []
        for event in ready {
            if event.text == Self.connecting {
                texts += connect(now)
            } else {
                texts.append(event.text)
            }
        }
        return isAttached && isRunning ? texts.map { "<3>" + $0 } : []
    }

    private static let connecting = "connecting"

    /// Ends the program. Its networks are lost.
    mutating func crash() {
        let (points, commands) = (accessPoints, self.commands)
        self = SimulatedSupplicant()
        (accessPoints, self.commands, isRunning) = (points, commands, false)
    }

    /// The access points no longer answer.
    mutating func mutes() { for index in accessPoints.indices { accessPoints[index].answers = false } }

    /// The access points have changed: leaves one that disappeared, and tries again.
    mutating func lookAgain(_ now: Instant) {
        if let known = joined, !accessPoints.contains(where: { $0.name == known && $0.answers }) {
            joined = nil
            tell("CTRL-EVENT-DISCONNECTED bssid=02:00:00:00:01:00 reason=4", now)
        }
        if joined == nil, served == nil, networks.contains(where: \.isEnabled) { attempt(now) }
    }

    private mutating func attempt(_ now: Instant) {
        guard !due.contains(where: { $0.text == Self.connecting }) else { return }
        due.append((now + .seconds(4), Self.connecting))
    }

    private mutating func connect(_ now: Instant) -> [String] {
        guard joined == nil, served == nil else { return [] }
        let enabled = networks.enumerated().filter { $0.element.isEnabled && $0.element.settings["mode"] == nil }
            .sorted { priority($0.element) > priority($1.element) }
        guard !enabled.isEmpty else { return [] }
        due.append((now + .seconds(10), Self.connecting))
        for (number, network) in enabled {
            for point in accessPoints where point.name == name(of: network) {
                guard point.answers else { return [] }
                let offered = network.settings["psk"].map {
                    $0.hasPrefix("\"") ? String($0.dropFirst().dropLast()) : $0
                }
                guard offered == point.password else {
                    return [
                        "CTRL-EVENT-SSID-TEMP-DISABLED id=\(number) ssid=\"\(point.name)\" auth_failures=1 duration=10 reason=WRONG_KEY"
                    ]
                }
                joined = point.name
                due.removeAll { $0.text == Self.connecting }
                return ["CTRL-EVENT-CONNECTED - Connection to \(point.address) completed [id=\(number) id_str=]"]
            }
        }
        return ["CTRL-EVENT-NETWORK-NOT-FOUND "]
    }

    private mutating func tell(_ text: String, _ at: Instant) { due.append((at, text)) }

    private func name(of network: Network) -> String {
        HexadecimalText.bytes(of: (network.settings["ssid"] ?? "").utf8).map { String(decoding: $0, as: UTF8.self) }
            ?? ""
    }

    private func priority(_ network: Network) -> Int { Int(network.settings["priority"] ?? "") ?? 0 }
}
