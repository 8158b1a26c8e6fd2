/// What the other end of an output can show, as far as the environment tells.
public struct Capabilities: Hashable, Sendable {
    public let isTerminal: Bool
    /// Whether lines can be drawn anew in place.
    public let movesCursor: Bool
    public let colors: ColorDepth
    /// Whether text is UTF-8.
    public let isUnicode: Bool
    /// Whether the font has braille and block characters, as far as can be known.
    public let hasBraille: Bool

    /// - Parameter environment: NO_COLOR, TERM, COLORTERM and, for the character set, LC_ALL, LC_CTYPE and LANG, of which
    ///   the first that is set decides. Any other variables are ignored.
    public init(environment: [String: String], isTerminal: Bool) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let terminal = value("TERM") ?? "dumb"
        let locale = (value("LC_ALL") ?? value("LC_CTYPE") ?? value("LANG") ?? "").lowercased()
        self.isTerminal = isTerminal
        movesCursor = isTerminal && terminal != "dumb"
        isUnicode = locale.contains("utf-8") || locale.contains("utf8")
        // The text console's font has a few hundred characters, braille not among them.
        hasBraille = movesCursor && isUnicode && terminal != "linux" && !terminal.hasPrefix("vt")
        if !movesCursor || value("NO_COLOR") != nil {
            colors = .none
        } else if value("COLORTERM") != nil || terminal.contains("256color") || terminal.contains("direct") {
            colors = .many
        } else {
            colors = terminal.hasPrefix("vt") ? .none : .sixteen
        }
    }
}
