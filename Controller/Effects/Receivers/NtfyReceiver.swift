import Automation

/// A topic of an ntfy server (https://docs.ntfy.sh/publish/), or of one that takes the same.
struct NtfyReceiver: NotificationReceiver, Hashable {
    enum Priority: String, CaseIterable {
        case min, low, `default`, high, max
    }

    static let usualServer = "https://ntfy.sh"
    /// Until the answer is there.
    private static let timeout = Duration.seconds(15)
    /// Bytes of a message; a longer one comes as a file.
    private static let longestMessage = 4096

    var server = usualServer
    /// Whoever knows it reads along where the server asks for no token: it stands in no words.
    var topic: String
    var token: TokenFile?
    var priority: Priority?
    /// Separated by commas.
    var tags: String?

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
            try await WebExchange(request, trustRoots: .default).run(within: Self.timeout)
        } catch {
            let host = WebHook.origin(of: server) ?? "the server"
            throw NotificationFault(
                "\(host): \(error.words)", hint: Self.hint(error.status),
                isWorthAnotherTry: error.isWorthAnotherTry && !Task.isCancelled)
        }
    }

    private static func hint(_ status: UInt?) -> String? {
        switch status {
        case 401, 403: "token_file names a file with a token that may write to the topic"
        case 404: "server names the ntfy server alone, without the topic"
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
