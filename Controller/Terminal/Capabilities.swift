/// The capabilities of an output, as far as the environment reveals them.
public struct Capabilities: Hashable, Sendable {
    /// True for a terminal, false for a pipe or a file.
    public let isTerminal: Bool
    /// True if lines can be redrawn in place.
    public let movesCursor: Bool
    /// The number of colours; none with NO_COLOR.
    public let colors: ColorDepth
    /// True if text is UTF-8.
    public let isUnicode: Bool
    /// True if the font probably has braille and block characters.
    public let hasBraille: Bool

    /// Determines the capabilities from the environment.
    ///
    /// - Parameter environment: NO_COLOR, TERM, COLORTERM and, for the character set, the first one set of LC_ALL,
    ///   LC_CTYPE and LANG. Other variables are ignored.
    public init(environment: [String: String], isTerminal: Bool) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let terminal = value("TERM") ?? "dumb"
        let locale = (value("LC_ALL") ?? value("LC_CTYPE") ?? value("LANG") ?? "").lowercased()
        self.isTerminal = isTerminal
        movesCursor = isTerminal && terminal != "dumb"
        isUnicode = locale.contains("utf-8") || locale.contains("utf8")
        // The font of the text console has a few hundred characters, without braille.
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
