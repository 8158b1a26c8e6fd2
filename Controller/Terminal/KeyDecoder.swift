/// Decodes the bytes of a keyboard into keys. The Escape key and the start of a sequence have the same byte. While
/// ``isPending`` is true, the reader must wait a moment and then call ``flush()``.
public struct KeyDecoder: Hashable, Sendable {
    /// The maximum length of a sequence in bytes. Prevents an endless sequence from consuming all input; sequences of
    /// real keys have at most about ten bytes.
    static let longestSequence = 32

    private var buffer: [UInt8] = []

    /// Creates a decoder without pending bytes.
    public init() {}

    /// True if bytes wait for the rest of their sequence.
    public var isPending: Bool { !buffer.isEmpty }

    /// Returns the keys that these bytes complete. Ignores unknown sequences and invalid UTF-8.
    public mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
        buffer += bytes
        var keys: [Key] = []
        var start = 0
        while start < buffer.count, let step = KeyDecoder.step(buffer[start...]) {
            if let key = step.key { keys.append(key) }
            start += step.length
        }
        buffer.removeFirst(start)
        return keys
    }

    /// Returns the key of the waiting bytes and discards them: Escape, or Alt with `[` or `O`. Returns no key for any
    /// other incomplete sequence. The reader calls it when the rest of a sequence has not arrived in time.
    public mutating func flush() -> [Key] {
        defer { buffer = [] }
        switch buffer {
        case [0x1B]: return [.escape]
        case [0x1B, UInt8(ascii: "[")]: return [.alt("[")]
        case [0x1B, UInt8(ascii: "O")]: return [.alt("O")]
        default: return []
        }
    }

    /// Returns the first key and its length in bytes, or nil if more bytes are needed.
    private static func step(_ bytes: ArraySlice<UInt8>) -> (key: Key?, length: Int)? {
        guard let first = bytes.first else { return nil }
        switch first {
        case 0x1B: return escape(bytes)
        case 0x0A, 0x0D: return (.enter, 1)
        case 0x09: return (.tab, 1)
        case 0x08, 0x7F: return (.backspace, 1)
        case 0x00: return (.control(" "), 1)
        case 0x01...0x1A: return (.control(Character(Unicode.Scalar(first + 0x60))), 1)
        case 0x1C...0x1F: return (nil, 1)
        default:
            guard let (scalar, length) = scalar(bytes) else { return nil }
            return (scalar.map { .character(Character($0)) }, length)
        }
    }

    private static func escape(_ bytes: ArraySlice<UInt8>) -> (key: Key?, length: Int)? {
        let rest = bytes.dropFirst()
        guard let second = rest.first else { return nil }
        switch second {
        case UInt8(ascii: "["): return controlSequence(bytes)
        case UInt8(ascii: "O"):
            guard let final = rest.dropFirst().first else { return nil }
            return (named(final: final, parameter: nil), 3)
        case 0..<0x20, 0x7F: return (.escape, 1)
        default:
            guard let (scalar, length) = scalar(rest) else { return nil }
            return (scalar.map { .alt(Character($0)) }, length + 1)
        }
    }

    /// Decodes a control sequence (ECMA-48 section 5.4): parameters from 3/0 to 3/15, intermediates from 2/0 to 2/15, a
    /// final byte from 4/0 to 7/14.
    private static func controlSequence(_ bytes: ArraySlice<UInt8>) -> (key: Key?, length: Int)? {
        let body = bytes.dropFirst(2)
        // The Linux console sends its first function keys as ESC [ [ A.
        if body.first == UInt8(ascii: "[") {
            guard let final = body.dropFirst().first else { return nil }
            let number = Int(final) - Int(UInt8(ascii: "A")) + 1
            return ((1...5).contains(number) ? .function(number) : nil, 4)
        }
        guard let end = body.firstIndex(where: { !(0x20...0x3F).contains($0) }) else {
            return bytes.count > longestSequence ? (nil, bytes.count) : nil
        }
        // An invalid byte ends the sequence and is decoded again separately.
        guard (0x40...0x7E).contains(bytes[end]) else { return (nil, end - bytes.startIndex) }
        let length = end - bytes.startIndex + 1
        if body.first == UInt8(ascii: "<") {
            return (bytes[end] == UInt8(ascii: "M") ? mouse(body[..<end].dropFirst()) : nil, length)
        }
        var parameter: Int?
        for byte in body[..<end].prefix(3) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { break }
            parameter = (parameter ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return (named(final: bytes[end], parameter: parameter), length)
    }

    /// Decodes a report of xterm's SGR mouse mode: button, column and row, from 1.
    private static func mouse(_ report: ArraySlice<UInt8>) -> Key? {
        let numbers = report.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { Int(String(decoding: $0, as: UTF8.self)) }
        guard numbers.count == 3, let button = numbers[0], let column = numbers[1], let row = numbers[2],
            (1...10_000).contains(column), (1...10_000).contains(row)
        else { return nil }
        return switch button {
        case 0: .click(column: column - 1, row: row - 1)
        case 64: .up
        case 65: .down
        default: nil
        }
    }

    /// Returns the key in the encodings of xterm, rxvt and the Linux console, without its modifiers.
    private static func named(final: UInt8, parameter: Int?) -> Key? {
        switch (Character(Unicode.Scalar(final)), parameter) {
        case ("A", _): .up
        case ("B", _): .down
        case ("C", _): .right
        case ("D", _): .left
        case ("H", _), ("~", 1), ("~", 7): .home
        case ("F", _), ("~", 4), ("~", 8): .end
        case ("Z", _): .backTab
        case ("M", nil): .enter
        case ("P", _): .function(1)
        case ("Q", _): .function(2)
        case ("R", _): .function(3)
        case ("S", _): .function(4)
        case ("~", 2): .insert
        case ("~", 3): .delete
        case ("~", 5): .pageUp
        case ("~", 6): .pageDown
        case ("~", .some(11...15)): .function((parameter ?? 0) - 10)
        case ("~", .some(17...21)): .function((parameter ?? 0) - 11)
        case ("~", .some(23...24)): .function((parameter ?? 0) - 12)
        default: nil
        }
    }

    /// Returns the first UTF-8 scalar, or a nil scalar for an invalid byte. Returns nil if the rest of the scalar is
    /// missing.
    private static func scalar(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar?, length: Int)? {
        guard let first = bytes.first else { return nil }
        let length =
            switch first {
            case 0..<0x80: 1
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 0
            }
        guard length > 0 else { return (nil, 1) }
        let whole = bytes.prefix(length)
        guard whole.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else { return (nil, 1) }
        guard whole.count == length else { return nil }
        guard let text = String(validating: whole, as: UTF8.self) else { return (nil, 1) }
        return (text.unicodeScalars.first, length)
    }
}
