import RuleModel

/// Publishes notifications to a topic of an ntfy server (https://docs.ntfy.sh/publish/), or of a compatible server.
struct NtfyReceiver: NotificationReceiver, Hashable {
    enum Priority: String, CaseIterable {
        case min, low, `default`, high, max
    }

    static let usualServer = "https://ntfy.sh"
    /// The longest message in bytes; ntfy delivers a longer one as an attachment.
    private static let longestMessage = 4096

    var server = usualServer
    /// The topic, which is a secret: if the server requires no token, the topic is enough to read the messages. No
    /// error contains the topic.
    var topic: String
    var token: TokenFile?
    var priority: Priority?
    /// The tags, separated by commas.
    var tags: String?
    /// The time limit until the answer has arrived.
    var timeout = Duration.seconds(15)

    func receive(_ notification: RuleNotification) async throws(NotificationFault) {
        let token = try token?.read()
        var fields = [
            (name: "Content-Type", value: "text/plain; charset=utf-8"),
            (name: "Title", value: EncodedWords.encode(notification.headline, separator: " ")),
        ]
        if let priority { fields.append((name: "Priority", value: priority.rawValue)) }
        if let tags { fields.append((name: "Tags", value: EncodedWords.encode(tags, separator: " "))) }
        if let token { fields.append((name: "Authorization", value: "Bearer \(token)")) }
        var hook = WebHook(url: "\(server)/\(topic)", method: "POST")
        hook.body = Self.bounded(notification.text)
        do throws(WebFault) {
            let request = try WebRequest(
                hook, notification.event, fields: fields, secrets: [topic] + (token.map { [$0] } ?? []))
            try await WebExchange(request, trustRoots: .default).run(within: timeout)
        } catch {
            let host = WebHook.origin(of: server) ?? "the server"
            throw NotificationFault(
                "\(host): \(error.words)", hint: Self.hint(error.status),
                isRetryable: error.isRetryable && !Task.isCancelled)
        }
    }

    private static func hint(_ status: UInt?) -> String? {
        switch status {
        case 401, 403: "set token_file to a file with a token that may write to the topic"
        case 404: "set server to the ntfy server without the topic"
        case _: nil
        }
    }

    private static func bounded(_ text: String) -> String {
        guard text.utf8.count > longestMessage else { return text }
        let ellipsis = "…"
        var end = text.startIndex
        var count = ellipsis.utf8.count
        while end < text.endIndex {
            count += text[end].utf8.count
            guard count <= longestMessage else { break }
            end = text.index(after: end)
        }
        return text[..<end] + ellipsis
    }
}
