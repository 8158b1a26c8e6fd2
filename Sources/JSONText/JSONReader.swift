/// The reason why bytes are not the expected JSON.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason as text, with the position if a reader created it.
    public let description: String

    /// Creates an error from its text.
    public init(_ description: String) { self.description = description }
}

/// Reads JSON (RFC 8259) from untrusted bytes in one pass. Bytes that are not UTF-8 become U+FFFD.
public struct JSONReader {
    /// The nesting limit of lists and objects, each of which uses stack space.
    public static let depthLimit = 64

    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0
    private var depth = 0

    /// Creates a reader at the first byte.
    ///
    /// - Parameter bytes: the bytes must stay valid while the reader is used.
    public init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Reads one value that must span the whole text.
    public static func read<Value>(
        _ bytes: [UInt8], _ body: (inout JSONReader) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        let result = bytes.withUnsafeBufferPointer { buffer -> Result<Value, JSONError> in
            var reader = JSONReader(buffer)
            do throws(JSONError) {
                let value = try body(&reader)
                guard reader.next() == nil else { throw reader.fault("more than one value") }
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Returns an error with the message and the current position, counted from 1.
    public func fault(_ message: String) -> JSONError { JSONError("\(message), at byte \(index + 1)") }

    /// Skips white space and returns the next byte without consuming it, or nil at the end.
    public mutating func next() -> UInt8? {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            case let byte: return byte
            }
        }
        return nil
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard next() == byte else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(JSONError) {
        guard consume(byte) else { throw fault("expected '\(Character(Unicode.Scalar(byte)))'") }
    }

    /// Consumes the word and returns true if the next bytes are equal to it.
    public mutating func word(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard bytes.count - index >= count,
            (0..<count).allSatisfy({ bytes[index + $0] == word.utf8Start[$0] })
        else { return false }
        index += count
        return true
    }

    // MARK: - Lists and objects

    private mutating func enter() throws(JSONError) {
        depth += 1
        guard depth <= Self.depthLimit else { throw fault("nested more than \(Self.depthLimit) deep") }
    }

    /// Reads an object and calls `body` for each entry. The body must read the entry's value.
    public mutating func object(
        _ body: (String, inout JSONReader) throws(JSONError) -> Void
    ) throws(JSONError) {
        try enter()
        try expect(UInt8(ascii: "{"))
        defer { depth -= 1 }
        if consume(UInt8(ascii: "}")) { return }
        repeat {
            let key = try text()
            try expect(UInt8(ascii: ":"))
            try body(key, &self)
        } while consume(UInt8(ascii: ","))
        try expect(UInt8(ascii: "}"))
    }

    /// Reads a list and calls `body` for each element. The body must read the element. An empty Lua table is encoded as
    /// an object, so an empty object counts as an empty list.
    public mutating func list(_ body: (inout JSONReader) throws(JSONError) -> Void) throws(JSONError) {
        if next() == UInt8(ascii: "{") {
            try object { _, reader throws(JSONError) in throw reader.fault("expected a list") }
            return
        }
        try enter()
        try expect(UInt8(ascii: "["))
        defer { depth -= 1 }
        if consume(UInt8(ascii: "]")) { return }
        repeat { try body(&self) } while consume(UInt8(ascii: ","))
        try expect(UInt8(ascii: "]"))
    }

    // MARK: - Values

    /// Reads a string and resolves its escapes.
    public mutating func text() throws(JSONError) -> String {
        try expect(UInt8(ascii: "\""))
        let start = index
        // Most texts contain nothing to unescape.
        while index < bytes.count, bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\"),
            bytes[index] >= 0x20
        {
            index += 1
        }
        var text = String(decoding: bytes[start..<index], as: UTF8.self)
        while true {
            guard index < bytes.count else { throw fault("unterminated string") }
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return text
            case UInt8(ascii: "\\"): text.unicodeScalars.append(try escaped())
            case 0..<0x20: throw fault("control character in a string")
            case _:
                let start = index - 1
                while index < bytes.count, bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\"),
                    bytes[index] >= 0x20
                {
                    index += 1
                }
                text += String(decoding: bytes[start..<index], as: UTF8.self)
            }
        }
    }

    private mutating func escaped() throws(JSONError) -> Unicode.Scalar {
        guard index < bytes.count else { throw fault("unterminated string") }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "u"):
            let first = try unit()
            if let scalar = Unicode.Scalar(first) { return scalar }
            guard first < 0xDC00, word("\\u") else { return "\u{FFFD}" }
            let second = try unit()
            guard (0xDC00..<0xE000).contains(second) else { return "\u{FFFD}" }
            return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) ?? "\u{FFFD}"
        case _: throw fault("invalid escape")
        }
    }

    private mutating func unit() throws(JSONError) -> UInt32 {
        guard bytes.count - index >= 4 else { throw fault("unterminated string") }
        var unit: UInt32 = 0
        for byte in bytes[index..<index + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("invalid escape")
            }
            unit = unit << 4 | UInt32(digit)
        }
        index += 4
        return unit
    }

    /// Reads a finite number and returns its text unchanged.
    public mutating func numeral() throws(JSONError) -> String {
        _ = next()
        let start = index
        while index < bytes.count, Self.isOfNumbers(bytes[index]) { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        // The limit of 32 bytes covers every 64-bit number. A longer text is rejected.
        guard text.utf8.count <= 32, let first = text.utf8.first, first != UInt8(ascii: "+"),
            Double(text)?.isFinite == true
        else { throw fault("invalid number") }
        return text
    }

    private static func isOfNumbers(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        case _: false
        }
    }

    /// Reads a finite number.
    public mutating func number() throws(JSONError) -> Double {
        guard let number = Double(try numeral()) else { throw fault("invalid number") }
        return number
    }

    /// Reads an integer. A number with a fraction, or outside the range of `Int`, is an error. A number beyond 2^53 is
    /// rounded, because it is read as a `Double`.
    public mutating func whole() throws(JSONError) -> Int {
        guard let number = Int(exactly: try number()) else { throw fault("expected an integer") }
        return number
    }

    /// Reads any value and returns its text unchanged.
    public mutating func raw() throws(JSONError) -> String {
        _ = next()
        let start = index
        try skip()
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// Reads any value and discards it.
    public mutating func skip() throws(JSONError) {
        switch next() {
        case UInt8(ascii: "{"): try object { _, reader throws(JSONError) in try reader.skip() }
        case UInt8(ascii: "["): try list { reader throws(JSONError) in try reader.skip() }
        case UInt8(ascii: "\""): _ = try text()
        case UInt8(ascii: "t") where word("true"), UInt8(ascii: "f") where word("false"),
            UInt8(ascii: "n") where word("null"):
            break
        case _: _ = try numeral()
        }
    }
}
