import RuleFiles

/// What is wrong with a line of a host, which writes none that is wrong.
struct LineFault: Error, Hashable {
    var message: String

    init(_ message: String) { self.message = message }
}

/// Reads JSON (RFC 8259) from bytes that a stranger wrote, from the front to the end and without a step back.
struct JSONReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0
    private var depth = 0

    /// - Parameter bytes: they have to stay while the reader is used.
    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// The whole of a text, and nothing behind it.
    static func read<Value>(
        _ bytes: [UInt8], _ body: (inout JSONReader) throws(LineFault) -> Value
    ) throws(LineFault) -> Value {
        let result = bytes.withUnsafeBufferPointer { buffer -> Result<Value, LineFault> in
            var reader = JSONReader(buffer)
            do throws(LineFault) {
                let value = try body(&reader)
                guard reader.next() == nil else { throw reader.fault("more than one value") }
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    func fault(_ message: String) -> LineFault { LineFault("\(message), at byte \(index + 1)") }

    /// The next byte that is no space, which stays the next one.
    private mutating func next() -> UInt8? {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            case let byte: return byte
            }
        }
        return nil
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next() == byte else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(LineFault) {
        guard take(byte) else { throw fault("'\(Character(Unicode.Scalar(byte)))' is missing") }
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard bytes.count - index >= count,
            (0..<count).allSatisfy({ bytes[index + $0] == word.utf8Start[$0] })
        else { return false }
        index += count
        return true
    }

    // MARK: - Lists and objects

    private mutating func enter() throws(LineFault) {
        depth += 1
        guard depth <= MessageLimits.depth else { throw fault("nested more than \(MessageLimits.depth) deep") }
    }

    /// Calls for each of the entries, of which each has to be read.
    mutating func object(
        _ body: (String, inout JSONReader) throws(LineFault) -> Void
    ) throws(LineFault) {
        try enter()
        try expect(UInt8(ascii: "{"))
        defer { depth -= 1 }
        if take(UInt8(ascii: "}")) { return }
        repeat {
            let key = try text()
            try expect(UInt8(ascii: ":"))
            try body(key, &self)
        } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "}"))
    }

    /// Calls for each of the elements, of which each has to be read. An empty table of Lua is an object, and stands for an empty list.
    mutating func list(_ body: (inout JSONReader) throws(LineFault) -> Void) throws(LineFault) {
        if next() == UInt8(ascii: "{") {
            try object { _, reader throws(LineFault) in throw reader.fault("an object is no list") }
            return
        }
        try enter()
        try expect(UInt8(ascii: "["))
        defer { depth -= 1 }
        if take(UInt8(ascii: "]")) { return }
        repeat { try body(&self) } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "]"))
    }

    // MARK: - Values

    mutating func text() throws(LineFault) -> String {
        try expect(UInt8(ascii: "\""))
        let start = index
        // As a rule there is nothing in it that has to be replaced.
        while index < bytes.count, bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\"),
            bytes[index] >= 0x20
        {
            index += 1
        }
        var text = String(decoding: bytes[start..<index], as: UTF8.self)
        while true {
            guard index < bytes.count else { throw fault("a text has no end") }
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return text
            case UInt8(ascii: "\\"): text.unicodeScalars.append(try escaped())
            case 0..<0x20: throw fault("a control character in a text")
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

    private mutating func escaped() throws(LineFault) -> Unicode.Scalar {
        guard index < bytes.count else { throw fault("a text has no end") }
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
        case _: throw fault("an escape that is none")
        }
    }

    private mutating func unit() throws(LineFault) -> UInt32 {
        guard bytes.count - index >= 4 else { throw fault("a text has no end") }
        var unit: UInt32 = 0
        for byte in bytes[index..<index + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("an escape that is none")
            }
            unit = unit << 4 | UInt32(digit)
        }
        index += 4
        return unit
    }

    /// As it is written.
    private mutating func numeral() throws(LineFault) -> String {
        _ = next()
        let start = index
        while index < bytes.count, Self.isOfNumbers(bytes[index]) { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        // The most that a number of 64 bits takes; more is no number of a script.
        guard text.utf8.count <= 32, let first = text.utf8.first, first != UInt8(ascii: "+"),
            Double(text)?.isFinite == true
        else { throw fault("a number that is none") }
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

    mutating func number() throws(LineFault) -> Double {
        guard let number = Double(try numeral()) else { throw fault("a number that is none") }
        return number
    }

    mutating func whole() throws(LineFault) -> Int {
        guard let number = Int(exactly: try number()) else { throw fault("no whole number") }
        return number
    }

    /// Whatever it is.
    mutating func value() throws(LineFault) -> JSONValue {
        switch next() {
        case UInt8(ascii: "{"):
            var entries: [JSONValue.Entry] = []
            try object { key, reader throws(LineFault) in
                entries.append(JSONValue.Entry(key, try reader.value()))
            }
            return .object(entries)
        case UInt8(ascii: "["):
            var list: [JSONValue] = []
            try self.list { reader throws(LineFault) in list.append(try reader.value()) }
            return .list(list)
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t") where word("true"): return .truth(true)
        case UInt8(ascii: "f") where word("false"): return .truth(false)
        case UInt8(ascii: "n") where word("null"): return .null
        case _: return .number(try numeral())
        }
    }

    /// The value as it is written, which has been looked at.
    mutating func raw() throws(LineFault) -> String {
        _ = next()
        let start = index
        try skip()
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    mutating func skip() throws(LineFault) {
        switch next() {
        case UInt8(ascii: "{"): try object { _, reader throws(LineFault) in try reader.skip() }
        case UInt8(ascii: "["): try list { reader throws(LineFault) in try reader.skip() }
        case _: _ = try value()
        }
    }
}
