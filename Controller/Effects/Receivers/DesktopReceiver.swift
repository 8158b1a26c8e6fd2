internal import Glibc

/// Shows notifications on the desktop session of the daemon's user, by `notify-send` (Desktop Notifications
/// Specification 1.2).
struct DesktopReceiver: NotificationReceiver, Hashable {
    enum Urgency: String, CaseIterable {
        case low, normal, critical
    }

    /// The time limit for the answer of the desktop.
    private static let timeout = Duration.seconds(10)

    var urgency = Urgency.normal

    func receive(_ notification: RuleNotification) async throws(NotificationFault) {
        let words = [
            "notify-send", "--app-name=smartplug", "--urgency=\(urgency.rawValue)", "--", notification.headline,
            Self.escaped(notification.text),
        ]
        let command = Command(
            words, timeout: Self.timeout, event: notification.event, input: [], environment: Self.sessionBus)
        let ending = await command.ending()
        guard ending.outcome != .done else { return }
        throw NotificationFault(
            ending.outcome,
            hint: ending.isMissing
                ? "apt install libnotify-bin" : "log in as this user at a desktop that shows notifications",
            isRetryable: !ending.isMissing && !Task.isCancelled)
    }

    /// The variables by which a program finds the session bus.
    private static var sessionBus: [String] {
        let names: [String] = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"]
        return names.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
    }

    /// The text as markup. Each backslash is doubled, because `notify-send` removes one of two. Names of plugs are
    /// untrusted: they must not produce bold text or links.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\\": escaped += "\\\\"
            case _: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
