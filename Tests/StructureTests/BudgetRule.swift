/// The tables of budgets in the security page have each message of the protocol, and the limits match the constants of the code.
enum BudgetRule {
    private static let page = SecurityRule.page
    private static let proto = "Sources/PlugProtocol/smartplug.proto"
    private static let budgets = "Sources/PlugProtocol/Server/PeerBudgets.swift"
    private static let wire = "Sources/PlugModel/PlugWire.swift"
    private static let server = "Sources/PlugProtocol/Server/PlugServer.swift"
    private static let audit = "Firmware/Appliance/Audit/AuditLog.swift"
    private static let writer = "Controller/PlugClient/Pairing/PairedPlugsWriter.swift"

    static let told = [
        limit("| # messages at once", budgets, "messagesAtOnce"),
        limit("then # per second and controller", budgets, "messagesPerSecond"),
        limit("more than # unread bytes ends", budgets, "unreadBytes"),
        limit("| counts as # messages, in any session", budgets, "messagesOfHello"),
        limit("; # connections, ", server, "connections"),
        limit("connections, # of one controller", server, "connectionsOfController"),
        limit("one more message for each # past events", budgets, "pastEventsOfMessage"),
        limit("# bytes of events in one step", server, "burstBytes"),
        limit("| counts as # messages;", budgets, "messagesOfFetch"),
        limit("# fetches of a session at the same time", wire, "fetchesInFlight"),
        limit("at the same time, # of a controller", wire, "fetchesOfController"),
        limit("| # entries of the audit log", wire, "auditEntriesAtOnce"),
        limit("| # sessions, ", wire, "logFollowers"),
        limit("sessions, # of one controller, for", wire, "logFollowersOfController"),
        limit("of one controller, for # s", wire, "longestLog"),
        limit("# commands of a session at the same time", wire, "requestsInFlight"),
        limit("; # outcomes", server, "recentOutcomes"),
        limit("a write in # s, for all controllers", "Firmware/Appliance/StateKeeper.swift", "spacing"),
        limit("| # changes at once and", budgets, "changesAtOnce"),
        limit(", # at once and 60 per hour for all", budgets, "allChangesAtOnce"),
        limit("| # writes per hour for an owner", budgets, "ownerWritesPerHour"),
        limit("for an owner, at most # at once", budgets, "ownerWritesAtOnce"),
        limit("for an owner; # writes per hour", budgets, "guestWritesPerHour"),
        limit("writes per hour, at most # at once, for any", budgets, "guestWritesAtOnce"),
        limit("and # for these together", budgets, "allGuestsWritesPerHour"),
        limit("one entry per hour; a write in # s", audit, "refusalSpacing"),
        limit("| # bytes per session, then", server, "unsentBytes"),
        limit("| # keys per connection", "Controller/PlugClient/AnnouncedKey.swift", "limit"),
        limit("and # writes per hour and plug", writer, "keysPerHour"),
        limit("| # names per hour and plug", writer, "namesPerHour"),
        limit("grows up to # s", "Controller/PlugClient/BackOff.swift", "longest"),
    ]

    private static func limit(_ words: String, _ file: String, _ constant: String) -> LimitRule.Told {
        LimitRule.Told(page: page, words: words, file: file, constant: constant)
    }

    static func check(_ tree: SourceTree) -> [Violation] {
        guard let page = tree.files.first(where: { $0.path == page }),
            let proto = tree.files.first(where: { $0.path == proto })
        else { return [] }
        return LimitRule.check(tree, told)
            + missing("ControllerMessage", of: proto.text, in: "| message of a controller |", of: page)
            + missing("PlugMessage", of: proto.text, in: "| message of a plug |", of: page)
    }

    /// Messages of the oneof that have no row in the table with this header.
    private static func missing(
        _ oneof: String, of proto: String, in header: String, of page: SourceFile
    ) -> [Violation] {
        let words = Set(rows(under: header, of: page.text).flatMap { $0.split { !$0.isLetter }.map(String.init) })
        let messages = messages(of: oneof, in: proto)
        guard !messages.isEmpty, !words.isEmpty else {
            return [Violation(path: page.path, line: 1, reason: "the table \"\(header)\" of \(oneof) is missing")]
        }
        return messages.filter { !words.contains($0) }.map {
            Violation(path: page.path, line: 1, reason: "the table \"\(header)\" has no row for \($0)")
        }
    }

    /// The first cells of the table.
    private static func rows(under header: String, of text: String) -> [Substring] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.hasPrefix(header) }) else { return [] }
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.compactMap { $0.split(separator: "|").first }
    }

    /// The types in `message NAME { oneof kind { Type field = 1; ... } }`.
    private static func messages(of name: String, in proto: String) -> [String] {
        guard let start = proto.firstRange(of: "message \(name) {") else { return [] }
        let body = proto[start.upperBound...].prefix { $0 != "}" }
        return body.matches(of: /(\w+) \w+ = \d+;/).map { String($0.output.1) }
    }
}
