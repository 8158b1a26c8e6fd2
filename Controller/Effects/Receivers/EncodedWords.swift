import Foundation

/// Text of any letters in a field of a head that is ASCII, of a mail or of HTTP (RFC 2047).
enum EncodedWords {
    /// Section 2: characters of an encoded word, and of a line that holds one.
    static let longestWord = 75
    static let longestLine = 76
    private static let (opening, closing) = ("=?UTF-8?B?", "?=")

    /// - Parameters:
    ///   - column: characters that stand before it on its line.
    ///   - separator: what stands between words; whoever decodes them leaves it out.
    /// - Returns: ASCII without control characters, the text itself where it is that already.
    static func encode(_ text: String, after column: Int = 0, separator: String) -> String {
        // What only looks like an encoded word would be decoded.
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
        // Section 5: a letter is in one word as a whole.
        for scalar in text.unicodeScalars {
            let bytes = Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            if piece.count + bytes.count > capacity() { end() }
            piece += bytes
        }
        if !piece.isEmpty { end() }
        return words.joined(separator: separator)
    }
}
