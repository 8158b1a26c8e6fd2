import PlugModel

extension WatchRecord {
    /// The event in words: `on (by kitchen)`, `214.3 W`.
    public var words: String {
        switch event {
        case "relay": relayWords
        case "level": "level \(number(level)) %"
        case "reading": "\(number(activePower)) W"
        case "button": "button pressed (\(press ?? "?"))"
        case "protection": "protection tripped\(explained(protection))"
        case "protectionReset": "protection reset (\(who)), was tripped\(explained(protection))"
        case "restarted": powerLost == true ? "restarted after a power failure" : "restarted"
        case "pairingFailed": "wrong setup code (\(failures ?? 0) in a row)"
        case "controllerPaired": "paired with \(controller ?? "?")"
        case "controllerRemoved": "no longer paired with \(controller ?? "?")"
        case "gap": "events \(from ?? 0) to \(to ?? 0) are lost (\(reason ?? "?"))"
        case "connected": "connected (firmware \(firmware ?? "?"))"
        case "disconnected": "disconnected: \(reason ?? "?")"
        case "snapshot": snapshotWords
        default: event
        }
    }

    /// True for lines in the news of the live view. Readings, levels and snapshots are not news; the table shows their
    /// content.
    public var isNews: Bool { event != "reading" && event != "snapshot" && event != "level" }

    private var relayWords: String { "\(on == true ? "on" : "off") (\(who))" }

    private var who: String {
        switch cause {
        case "controller": "by \(controller ?? "?")"
        case "powerOn": "power-on"
        default: cause ?? "?"
        }
    }

    /// Returns the words after "tripped".
    private func explained(_ protection: String?) -> String {
        guard let known = protection.flatMap(Protection.init(rawValue:)) else { return "" }
        return " (\(known.rawValue)): \(known.words)"
    }

    private var snapshotWords: String {
        var parts = [on == true ? "on" : "off"]
        if let level { parts.append("level \(number(level)) %") }
        if let activePower { parts.append("\(number(activePower)) W") }
        if tripped != nil { parts.append("protection tripped\(explained(tripped))") }
        return parts.joined(separator: ", ")
    }
}

/// Formats a number for the user, without decimals for whole numbers.
func number(_ value: Double?) -> String {
    guard let value else { return "?" }
    return value == value.rounded() && abs(value) < 1e9 ? "\(Int(value))" : "\(value)"
}
