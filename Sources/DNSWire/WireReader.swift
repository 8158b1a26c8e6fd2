/// Why bytes are not a DNS message, and where.
public struct WireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Bytes from the start of the message.
    public let offset: Int
    public let reason: Reason

    public enum Reason: Hashable, Sendable {
        /// The message ends before a field of `needed` bytes.
        case truncated(needed: Int)
        /// The two top bits of a label's length are 01 or 10 (RFC 1035 §4.1.4 reserves them).
        case reservedLabel(UInt8)
        /// A compression pointer that does not point backwards: a loop, or a forward reference.
        case pointerNotBackwards(to: Int)
        /// A name beyond 255 bytes.
        case nameTooLong
        /// Record data of `actual` bytes where its type takes `expected`.
        case dataLength(expected: Int, actual: Int)
        /// The type bitmap of an NSEC record is malformed (RFC 4034 §4.1.2).
        case typeBitmap
    }

    public var description: String { "byte \(offset): \(reason)" }
}

/// Reads fields one after the other from a message. Holds the array without copying it.
struct WireReader {
    let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var remaining: Int { bytes.count - offset }

    private func require(_ count: Int) throws(WireError) {
        guard count <= bytes.count - offset else { throw WireError(offset: offset, reason: .truncated(needed: count)) }
    }

    mutating func readUInt16() throws(WireError) -> UInt16 {
        try require(2)
        defer { offset += 2 }
        return UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
    }

    mutating func readUInt32() throws(WireError) -> UInt32 {
        try require(4)
        defer { offset += 4 }
        return UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16 | UInt32(bytes[offset + 2]) << 8
            | UInt32(bytes[offset + 3])
    }

    mutating func readUInt64() throws(WireError) -> UInt64 {
        try require(8)
        return try UInt64(readUInt32()) << 32 | UInt64(readUInt32())
    }

    mutating func readBytes(_ count: Int) throws(WireError) -> ArraySlice<UInt8> {
        try require(count)
        defer { offset += count }
        return bytes[offset..<(offset + count)]
    }

    /// A name, following compression pointers (RFC 1035 §4.1.4). A pointer must lead to before the part of the name it
    /// ends, so that each jump goes further back and no message can make the walk endless.
    mutating func readName() throws(WireError) -> Name {
        let start = offset
        var (partStart, cursor, length) = (offset, offset, 1)
        var end: Int?
        while true {
            guard cursor < bytes.count else { throw WireError(offset: cursor, reason: .truncated(needed: 1)) }
            let byte = bytes[cursor]
            if byte == 0 { break }
            switch byte >> 6 {
            case 0b00:
                let next = cursor + 1 + Int(byte)
                guard next <= bytes.count else {
                    throw WireError(offset: cursor, reason: .truncated(needed: Int(byte)))
                }
                length += next - cursor
                guard length <= Name.lengthLimit else { throw WireError(offset: start, reason: .nameTooLong) }
                cursor = next
            case 0b11:
                guard cursor + 1 < bytes.count else { throw WireError(offset: cursor, reason: .truncated(needed: 2)) }
                let target = Int(byte & 0x3F) << 8 | Int(bytes[cursor + 1])
                guard target < partStart else {
                    throw WireError(offset: cursor, reason: .pointerNotBackwards(to: target))
                }
                end = end ?? cursor + 2
                (partStart, cursor) = (target, target)
            default:
                throw WireError(offset: cursor, reason: .reservedLabel(byte))
            }
        }
        offset = end ?? cursor + 1
        return Name(trusted: copyName(at: start, length: length))
    }

    /// The second walk over a name that the first has found sound: no check is left to make, and one allocation.
    private func copyName(at start: Int, length: Int) -> [UInt8] {
        bytes.withUnsafeBufferPointer { source in
            [UInt8](unsafeUninitializedCapacity: length) { name, count in
                var cursor = start
                while source[cursor] != 0 {
                    if source[cursor] >> 6 == 0b11 {
                        cursor = Int(source[cursor] & 0x3F) << 8 | Int(source[cursor + 1])
                        continue
                    }
                    for _ in 0...source[cursor] {
                        name.initializeElement(at: count, to: source[cursor])
                        count += 1
                        cursor += 1
                    }
                }
                name.initializeElement(at: count, to: 0)
                count += 1
            }
        }
    }
}
