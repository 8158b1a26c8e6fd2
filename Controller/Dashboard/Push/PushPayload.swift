import Effects
import JSONText

/// The message to a browser about a notification. The service worker of the page reads it.
struct PushPayload: Hashable, Sendable {
    /// The maximum length in bytes, to which all messages are padded.
    static let limit = 2048
    private static let longestTitle = 200

    let title: String
    let body: String
    /// The part of the page that opens when the user selects the notification.
    let path: String
    /// The id of the notification. A browser shows a repeated notification once.
    let tag: String

    /// Creates the message. A notification without a title has the name of its rule instead.
    init(_ notification: RuleNotification) {
        let event = notification.event
        let headline = notification.headline
        title = headline.isEmpty ? String(event.rule.unicodeScalars.prefix(Self.longestTitle)) : headline
        body = notification.text
        path = event.rule == BudgetWatch.author ? "/#energy" : "/#rules"
        tag = event.id
    }

    /// The message as JSON of at most ``limit`` bytes. The body is shortened if necessary.
    var bytes: [UInt8] {
        var room = body.utf8.count
        while true {
            let json = json(room)
            let excess = json.utf8.count - Self.limit
            guard excess > 0, room > 0 else { return Array(json.utf8) }
            room = max(0, room - max(excess, Self.ellipsis.utf8.count))
        }
    }

    private static let ellipsis = "…"

    /// - Parameter room: the maximum number of bytes of the body, without the ellipsis of a shortened body.
    private func json(_ room: Int) -> String {
        var object = JSONObject()
        object.add("title", title)
        object.add("body", room < body.utf8.count ? shortened(to: room) : body)
        object.add("path", path)
        object.add("tag", tag)
        return object.text
    }

    private func shortened(to room: Int) -> String {
        var count = 0
        let kept = body.unicodeScalars.prefix { scalar in
            count += UTF8.width(scalar)
            return count <= room
        }
        return String(String.UnicodeScalarView(kept)) + Self.ellipsis
    }
}
