import Foundation

/// Encodes text for a header field of a mail or of HTTP, which must be ASCII (RFC 2047).
enum EncodedWords {
    /// Section 2: the longest encoded word, and the longest line that contains one, in characters.
    static let longestWord = 75
    static let longestLine = 76
    private static let (opening, closing) = ("=?UTF-8?B?", "?=")

    /// - Parameters:
    ///   - column: the number of characters before the text on its line.
    ///   - separator: the text between words; a decoder removes it.
    /// - Returns: ASCII, without control characters except those of `separator`. Printable ASCII without `=?` is
    ///   returned unchanged.
    static func encode(_ text: String, after column: Int = 0, separator: String) -> String {
        // Text that looks like an encoded word must be encoded, or a reader would decode it.
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !text.contains("=?")
        guard !isPlain else { return text }
        var words: [String] = []
        var piece: [UInt8] = []
        func capacity() -> Int {
            let line = words.isEmpty ? longestLine - column : longestWord
            return (min(line, longestWord) - opening.utf8.count - closing.utf8.count) / 4 * 3
        }
        func end() {
            words.append(opening + Data(piece).base64EncodedString() + closing)
            piece = []
        }
        // Section 5: a character must not be split between words.
        for scalar in text.unicodeScalars {
            let bytes = Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            if piece.count + bytes.count > capacity() { end() }
            piece += bytes
        }
        if !piece.isEmpty { end() }
        return words.joined(separator: separator)
    }
}
