/// A colour of the terminal's own palette, which the user has chosen to be readable on their background.
public enum Color: UInt8, Hashable, Sendable, CaseIterable {
    case black, red, green, yellow, blue, magenta, cyan, white
    case brightBlack, brightRed, brightGreen, brightYellow, brightBlue, brightMagenta, brightCyan, brightWhite
}

/// The appearance of text. Colours must not be the only carrier of meaning: the text must express it as well.
public struct Style: Hashable, Sendable {
    /// One of the palette's 16 colours, or one of 256 colours with a replacement for terminals with 16 colours.
    public enum Ink: Hashable, Sendable {
        case palette(Color)
        case indexed(UInt8, otherwise: Color)
    }

    /// The colour; nil for the terminal's default.
    public var ink: Ink?
    /// True for bold text.
    public var isBold = false
    /// True for faint text.
    public var isFaint = false
    /// True for underlined text.
    public var isUnderlined = false
    /// True if the colours of text and background are exchanged.
    public var isReversed = false

    /// Creates a style with a colour of the palette.
    public init(
        _ color: Color? = nil, bold: Bool = false, faint: Bool = false, underlined: Bool = false, reversed: Bool = false
    ) {
        self.init(ink: color.map(Ink.palette), bold: bold, faint: faint, underlined: underlined, reversed: reversed)
    }

    /// Creates a style.
    public init(
        ink: Ink?, bold: Bool = false, faint: Bool = false, underlined: Bool = false, reversed: Bool = false
    ) {
        self.ink = ink
        isBold = bold
        isFaint = faint
        isUnderlined = underlined
        isReversed = reversed
    }

    /// The style without attributes and colour.
    public static let plain = Style()
    /// Bold text in the default colour.
    public static let bold = Style(bold: true)
    /// Faint text in the default colour.
    public static let faint = Style(faint: true)

    /// Returns the escape sequence that switches a terminal from the plain style to this style (ECMA-48 section
    /// 8.3.117, SGR); empty for the plain style, and on a terminal without colours.
    func sequence(_ colors: ColorDepth) -> String {
        guard colors != .none else { return "" }
        var parameters: [String] = []
        if isBold { parameters.append("1") }
        if isFaint { parameters.append("2") }
        if isUnderlined { parameters.append("4") }
        if isReversed { parameters.append("7") }
        switch (ink, colors) {
        case (nil, _), (_, .none): break
        case (.palette(let color), _), (.indexed(_, let color), .sixteen): parameters.append(Style.parameter(color))
        case (.indexed(let index, _), .many): parameters.append("38;5;\(index)")
        }
        return parameters.isEmpty ? "" : "\u{1B}[" + parameters.joined(separator: ";") + "m"
    }

    private static func parameter(_ color: Color) -> String {
        String(color.rawValue < 8 ? 30 + color.rawValue : 90 + color.rawValue - 8)
    }
}

/// The number of colours of a terminal.
public enum ColorDepth: Hashable, Sendable {
    case none
    case sixteen
    /// 256 or more colours.
    case many
}
