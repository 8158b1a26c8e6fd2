/// Computes the number of terminal columns of text. Terminals disagree about some emoji; those are drawn so that the
/// disagreement does not affect the next column (see ``redraw(from:to:placement:colors:)``).
public enum DisplayWidth {
    /// Returns the columns of a text without control characters.
    public static func of(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + of($1) } }

    /// Returns 0 for a lone combining mark, 2 for East Asian wide characters and emoji, otherwise 1.
    public static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        guard scalars.count > 1 else { return of(first) }
        let isEmoji = scalars.contains { $0.value == 0xFE0F || $0.value == 0x200D } && first.properties.isEmoji
        let isFlag = (0x1F1E6...0x1F1FF).contains(first.value)
        if isEmoji || isFlag || first.properties.isEmojiPresentation { return 2 }
        // A syllable of conjoining Hangul is as wide as its first part; otherwise the widths of all parts are added.
        if (0x1100...0x115F).contains(first.value) { return 2 }
        return scalars.reduce(0) { $0 + of($1) }
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return value < 0x20 || (0x7F..<0xA0).contains(value) ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // Vowels and finals of conjoining Hangul join the preceding syllable.
        if (0x1160...0x11FF).contains(value) { return 0 }
        return isWide(value) || scalar.properties.isEmojiPresentation ? 2 : 1
    }

    /// Returns true for East Asian Width "W" and "F" (Unicode Standard Annex 11), except emoji, which the standard
    /// library classifies.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
            0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F251, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
