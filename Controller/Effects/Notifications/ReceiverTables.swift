import ConfigurationFiles
import RuleModel

/// Reads a receiver's table, by kind.
extension ConfigurationReader.Table {
    /// The keys that only one kind of receiver has.
    private static let keys: [(key: String, kind: NamedReceiver.Kind)] = [
        ("urgency", .desktop), ("server", .ntfy), ("topic", .ntfy), ("token_file", .ntfy), ("priority", .ntfy),
        ("tags", .ntfy), ("to", .mail), ("from", .mail), ("sendmail", .mail), ("command", .command),
        ("timeout", .command),
    ]

    /// Reads the receiver. Returns nil if the table has a mistake, which is added to the reader's mistakes.
    ///
    /// - Parameter path: resolves the path of a file that the settings name.
    func receiver(_ path: (String) -> String) -> NamedReceiver? {
        let kind = choice("kind", NamedReceiver.Kind.self)
        if !has("kind") {
            let kinds = NamedReceiver.Kind.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            wrong(.missing("kind = one of \(kinds)"))
        }
        let perMinute = integer("per_minute", 1...600, "notifications")
        for entry in Self.keys where entry.kind != kind {
            if kind == nil {
                admit(entry.key)
            } else {
                refuse(entry.key, "only kind = \"\(entry.kind.rawValue)\" has this key")
            }
        }
        let receiver: (any NotificationReceiver)? =
            switch kind {
            case .desktop: DesktopReceiver(urgency: choice("urgency") ?? .normal)
            case .ntfy: ntfy(path)
            case .mail: mail(path)
            case .command: command()
            case nil: nil
            }
        guard let receiver else { return nil }
        return NamedReceiver(
            name: name, kind: kind, perMinute: perMinute ?? NamedReceiver.usualPerMinute, receiver: receiver)
    }

    private func ntfy(_ path: (String) -> String) -> NtfyReceiver? {
        if !has("topic") { wrong(.missing("topic = \"...\", the topic that the phone subscribes to")) }
        let topic = text("topic", "the name of a topic", longest: 64)
        let token = text("token_file", "the name of the file with the token", longest: 1000)
        let priority = choice("priority", NtfyReceiver.Priority.self)
        let tags = text("tags", "tags such as \"house,tv\"")
        refuse("token", "put the token into a file that only you can read, and set token_file = \"...\"")
        var server = text("server", "the address of an ntfy server", longest: 1000) ?? NtfyReceiver.usualServer
        while server.hasSuffix("/") { server.removeLast() }
        if let problem = Self.fault(ofServer: server) { wrong(.contradiction(problem), "server") }
        if let topic, !topic.utf8.allSatisfy({ $0.isWordByte || $0 == UInt8(ascii: "-") }) {
            wrong(.contradiction("a topic consists of ASCII letters, digits, - and _"), "topic")
        }
        return topic.map {
            NtfyReceiver(
                server: server, topic: $0, token: token.map { TokenFile(path: path($0)) }, priority: priority,
                tags: tags)
        }
    }

    /// Returns why an ntfy server's address is not valid, or nil. The rules are those of web hooks.
    private static func fault(ofServer server: String) -> String? {
        guard WebHook.origin(of: server) != nil, server.hasPrefix("http://") || server.hasPrefix("https://") else {
            return "it must begin with http:// or https://"
        }
        guard server.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return "it must be ASCII without spaces"
        }
        if server.contains("@") { return "it must not contain a user or password; use token_file" }
        if server.contains("?") || server.contains("#") { return "it must not contain ? or #" }
        return nil
    }

    private func mail(_ path: (String) -> String) -> MailReceiver? {
        if !has("to") { wrong(.missing("to = \"you@example.org\", or several with commas between them")) }
        let to = text("to", "an address", longest: 2000).map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmed) }
        }
        let from = text("from", "an address")
        if let wrongOne = (to ?? []).first(where: { !$0.isMailAddress }) { refuseAddress(wrongOne, "to") }
        if let from, !from.isMailAddress { refuseAddress(from, "from") }
        let program = text("sendmail", "the path of sendmail", longest: 1000).map(path)
        return to.map { MailReceiver(program: program ?? MailReceiver.usualProgram, from: from, to: $0) }
    }

    private func refuseAddress(_ address: String, _ key: String) {
        wrong(.contradiction("\"\(address.prefix(80))\" is not a plain address such as you@example.org"), key)
    }

    private func command() -> CommandReceiver? {
        if !has("command") { wrong(.missing("command = \"program argument\", whose input is the event")) }
        let seconds = number("timeout", 1...600, "s")
        guard let written = text("command", "a program with its arguments", longest: 4000) else { return nil }
        guard let words = written.words else {
            wrong(.contradiction("a single quote is not closed"), "command")
            return nil
        }
        if words.isEmpty { wrong(.missing("the program's name"), "command") }
        return CommandReceiver(words: words, timeout: seconds.map { .seconds($0) } ?? CommandReceiver.usualTimeout)
    }
}

extension UInt8 {
    fileprivate var isWordByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        case _: false
        }
    }
}

extension StringProtocol {
    fileprivate var trimmed: SubSequence {
        var text = drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }

    /// True for an address that is one dot-atom, or two with an @ between them (RFC 5322 section 3.2.3). Such an
    /// address cannot end a header field or add a second address. A local user's address has no @.
    fileprivate var isMailAddress: Bool {
        let parts = split(separator: "@", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), utf8.count <= 254 else { return false }
        return parts.allSatisfy { part in
            !part.isEmpty && part.utf8.first != UInt8(ascii: "-")
                && part.utf8.allSatisfy { $0.isWordByte || ".!#$%&'*+-/=?^`{|}~".utf8.contains($0) }
        }
    }

    /// The words that spaces separate; text in single quotes is one word. Nil if a quote is not closed.
    fileprivate var words: [String]? {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in self {
            switch character {
            case "'":
                isQuoted.toggle()
                word = word ?? ""
            case " " where !isQuoted:
                if let word { words.append(word) }
                word = nil
            case _: word = (word ?? "") + String(character)
            }
        }
        return isQuoted ? nil : words + (word.map { [$0] } ?? [])
    }
}
