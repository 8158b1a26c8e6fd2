/// The names that a script's source contains literally, found without running it. Names that are computed at run time
/// are not found.
public struct ScriptWords: Hashable, Sendable {
    /// A quoted text in the source.
    public struct Word: Hashable, Sendable {
        /// The text without its quotes.
        public var text: String
        /// The first line that contains it, from 1.
        public var line: Int
    }

    /// The names in `plug("...")`, each at its first occurrence.
    public private(set) var plugs: [Word] = []
    /// All other quoted texts, each at its first occurrence. Texts that span several lines and the first arguments of
    /// `on` are left out.
    public private(set) var others: [Word] = []

    /// Scans a source.
    public init(_ source: String) {
        var scan = LuaScan(source)
        var known: Set<String> = []
        while let word = scan.next() {
            switch word.before {
            case .on: break
            case .plug:
                guard !plugs.contains(where: { $0.text == word.text }) else { continue }
                plugs.append(Word(text: word.text, line: word.line))
            case .other: if known.insert(word.text).inserted { others.append(Word(text: word.text, line: word.line)) }
            }
        }
    }
}

/// Scans Lua source (Lua 5.4, section 3.1) for quoted texts. Skips comments and long brackets.
private struct LuaScan {
    /// The name before a text, with or without a parenthesis between them.
    enum Before {
        case plug, on, other
    }

    struct Quoted {
        var text: String
        var line: Int
        var before: Before
    }

    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    private var before = Before.other

    init(_ source: String) { bytes = Array(source.utf8) }

    private func byte(_ offset: Int = 0) -> UInt8? {
        index + offset < bytes.count ? bytes[index + offset] : nil
    }

    private mutating func step() {
        if byte() == UInt8(ascii: "\n") { line += 1 }
        index += 1
    }

    mutating func next() -> Quoted? {
        while let byte = byte() {
            switch byte {
            case UInt8(ascii: "-") where self.byte(1) == UInt8(ascii: "-"):
                index += 2
                if !passLongBracket() { passLine() }
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let (begin, found) = (line, before)
                before = .other
                guard let text = quoted(by: byte) else { continue }
                // A part of a concatenation is not a complete name.
                return Quoted(text: text, line: begin, before: found == .plug && isJoined ? .other : found)
            case UInt8(ascii: "["):
                before = .other
                if !passLongBracket() { step() }
            case _ where byte.isOfName: passName()
            case UInt8(ascii: "("), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                step()
            case _:
                before = .other
                step()
            }
        }
        return nil
    }

    /// True if `..` follows, which concatenates texts.
    private var isJoined: Bool {
        let next = bytes[index...].drop {
            [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains($0)
        }
        return next.starts(with: "..".utf8)
    }

    private mutating func passLine() {
        while let byte = byte(), byte != UInt8(ascii: "\n") { index += 1 }
    }

    private mutating func passName() {
        let begin = index
        while let byte = byte(), byte.isOfName { index += 1 }
        let name = bytes[begin..<index]
        before = name.elementsEqual("plug".utf8) ? .plug : name.elementsEqual("on".utf8) ? .on : .other
    }

    /// Skips `[[...]]` or `[==[...]==]`. Returns false if none begins here.
    private mutating func passLongBracket() -> Bool {
        var level = 0
        guard byte() == UInt8(ascii: "[") else { return false }
        while byte(1 + level) == UInt8(ascii: "=") { level += 1 }
        guard byte(1 + level) == UInt8(ascii: "[") else { return false }
        let end = [UInt8(ascii: "]")] + Array(repeating: UInt8(ascii: "="), count: level) + [UInt8(ascii: "]")]
        while index < bytes.count, !bytes[index...].starts(with: end) { step() }
        index = min(bytes.count, index + end.count)
        return true
    }

    /// Returns the text; nil if it is not closed on its line, or if it has escapes other than the quote and the
    /// backslash.
    private mutating func quoted(by mark: UInt8) -> String? {
        var text: [UInt8] = []
        var isPlain = true
        index += 1
        while let byte = byte(), byte != mark {
            if byte == UInt8(ascii: "\n") { return nil }
            if byte == UInt8(ascii: "\\"), let escaped = self.byte(1) {
                index += 1
                isPlain = isPlain && (escaped == mark || escaped == UInt8(ascii: "\\"))
            }
            if let byte = self.byte() { text.append(byte) }
            step()
        }
        guard byte() == mark else { return nil }
        index += 1
        return isPlain ? String(decoding: text, as: UTF8.self) : nil
    }
}

extension UInt8 {
    fileprivate var isOfName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        case _: false
        }
    }
}
