/// Formats a packet for the user.
extension PacketRecord {
    /// The packet and its indented content.
    public var lines: [String] {
        [headline] + questions.map(Self.line) + records.map(Self.line) + (more.map { ["    and \($0) more"] } ?? [])
    }

    private var headline: String {
        var words = "\(at)  \(interface)  \(from)"
        if port != 5353 { words += " port \(port)" }
        words += "  \(kind.rawValue), \(bytes) bytes"
        if truncated { words += ", more follows" }
        if let fault { words += ": byte \(fault.offset): \(fault.reason)" }
        return words
    }

    private static func line(_ question: Question) -> String {
        "    asks      \(question.type) \(question.name)" + (question.unicast ? " (QU)" : "")
    }

    private static func line(_ record: PacketEntry) -> String {
        let section =
            switch record.section {
            case .known: "knows     "
            case .proposed: "proposes  "
            case .answer: "answers   "
            case .authority: "authority "
            case .additional: "adds      "
            }
        let remarks = lifetimeWords(record.ttl) + (record.flush ? ", cache flush" : "")
        return "    \(section)\(record.type) \(record.name): \(record.data) (\(remarks))"
    }
}

/// Returns a time to live in words with its two largest units.
func lifetimeWords(_ seconds: UInt32) -> String {
    guard seconds > 0 else { return "goodbye" }
    let units: [(size: UInt32, name: String)] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
    var rest = seconds
    let parts = units.compactMap { unit -> String? in
        let count = rest / unit.size
        rest %= unit.size
        return count == 0 ? nil : "\(count) \(unit.name)"
    }
    return parts.prefix(2).joined(separator: " ")
}
