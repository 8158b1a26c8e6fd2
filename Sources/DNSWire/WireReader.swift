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
    /// Names read so far, by where their first label stands. Most names of a message are pointers to an earlier one: those share
    /// its storage, here and in a cache.
    private var known: [(offset: Int, name: Name)] = []
    /// Stops a message of many names from being searched again and again.
    private static let knownLimit = 16

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
        var (first, partStart, cursor, length) = (offset, offset, offset, 1)
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
                if cursor == first {
                    // Nothing but a pointer so far.
                    if let name = known.first(where: { $0.offset == target })?.name {
                        offset = start + 2
                        return name
                    }
                    first = target
                }
                (partStart, cursor) = (target, target)
            default:
                throw WireError(offset: cursor, reason: .reservedLabel(byte))
            }
        }
        offset = end ?? cursor + 1
        let name = Name(trusted: copyName(at: start, length: length))
        if length > 1, known.count < Self.knownLimit { known.append((first, name)) }
        return name
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
                    let label = 1 + Int(source[cursor])
                    _ = name[count...].initialize(fromContentsOf: source[cursor..<(cursor + label)])
                    count += label
                    cursor += label
                }
                name.initializeElement(at: count, to: 0)
                count += 1
            }
        }
    }
}
