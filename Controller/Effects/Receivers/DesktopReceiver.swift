import CEffects

/// Shows notifications on the desktop session of the daemon's user, over the session bus (Desktop Notifications
/// Specification 1.2).
struct DesktopReceiver: NotificationReceiver, Hashable {
    enum Urgency: String, CaseIterable {
        case low, normal, critical
    }

    /// The time limit for the answer in milliseconds.
    private static let timeout = 10_000

    var urgency = Urgency.normal

    func receive(_ notification: RuleNotification) async throws(NotificationFault) {
        let (summary, body, urgency) = (notification.headline, notification.text, level)
        let shown = await DedicatedThread.result { Self.show(summary, body, urgency, until: $0) }
        guard let shown else {
            throw NotificationFault("no thread or file descriptor is available", isRetryable: true)
        }
        if let fault = shown.fault { throw fault }
    }

    private struct Shown: Sendable {
        var fault: NotificationFault?
    }

    private var level: UInt8 {
        switch urgency {
        case .low: 0
        case .normal: 1
        case .critical: 2
        }
    }

    private static func show(_ summary: String, _ body: String, _ urgency: UInt8, until wake: PollWaker) -> Shown {
        var message = [UInt8](repeating: 0, count: 300)
        let result = summary.withCString { summary in
            body.withCString { body in
                escaped(String(cString: body)).withCString { markedUp in
                    message.withUnsafeMutableBytes { message in
                        var notification = desktop_notification(
                            summary: summary, body: body, marked_up_body: markedUp, urgency: urgency)
                        return desktop_notify(
                            &notification, CInt(timeout), wake.reading,
                            message.baseAddress?.assumingMemoryBound(to: CChar.self), message.count)
                    }
                }
            }
        }
        let words = String(decoding: message.prefix { $0 != 0 }, as: UTF8.self)
        switch result {
        case desktop_shown: return Shown()
        case desktop_missing:
            return Shown(
                fault: NotificationFault("libsystemd is not available: \(words)", hint: "apt install libsystemd0"))
        case desktop_interrupted: return Shown(fault: .givenUp)
        case desktop_late:
            return Shown(fault: NotificationFault("the desktop did not answer in time", isRetryable: true))
        default:
            let hint = "log in as this user at a desktop that shows notifications"
            return Shown(fault: NotificationFault("the desktop: \(words)", hint: hint, isRetryable: true))
        }
    }

    /// The text as markup. Names of plugs are untrusted: they must not produce bold text or links.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case _: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
