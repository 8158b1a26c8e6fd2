/// The reason why bytes are not a valid DNS message, and its position.
public struct WireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position of the fault, in bytes from the start of the message; for an EDNS option, from the start of the OPT
    /// record's data.
    public let offset: Int
    /// The reason.
    public let reason: Reason

    /// The reasons why bytes are not a valid DNS message.
    public enum Reason: Hashable, Sendable {
        /// The message ends before the end of a field of `needed` bytes.
        case truncated(needed: Int)
        /// The two top bits of a label's length are 01 or 10 (RFC 1035 §4.1.4 reserves them).
        case reservedLabel(UInt8)
        /// A compression pointer that does not point backwards: a loop, or a forward reference.
        case pointerNotBackwards(to: Int)
        /// The part of a name at a pointer's target extends into the part that contains the pointer.
        case overlappingName
        /// A name has more than ``Name/pointerLimit`` pointers.
        case tooManyPointers
        /// A name exceeds 255 bytes.
        case nameTooLong
        /// Record data has `actual` bytes, but its type requires `expected`.
        case dataLength(expected: Int, actual: Int)
        /// The type bitmap of an NSEC record is malformed (RFC 4034 §4.1.2).
        case typeBitmap
        /// The data of an EDNS option has `actual` bytes, which the format of option `code` does not permit.
        case optionLength(code: UInt16, actual: Int)
        /// The message is not one of DNS Stateful Operations: the operation code differs, or a count is not zero.
        case notStateful
        /// The data of an item in a stateful message has `actual` bytes, which its type does not permit.
        case itemLength(type: UInt16, actual: Int)
    }

    public var description: String { "byte \(offset): \(reason)" }
}

/// Reads consecutive fields from a message. Holds the array without a copy.
struct WireReader {
    let bytes: [UInt8]
    /// True to write the names of CNAME records in full.
    var expandsNames = false
    private(set) var offset = 0
    /// The first names of the message, at most ``knownLimit``, with the offset of their first label. Most names of a
    /// message are pointers to an earlier name. Such a name shares the storage of the earlier one, which also saves
    /// memory in a cache of records.
    private var known: [(offset: Int, name: Name)] = []
    /// The limit of known names, which bounds the search in a message with many names.
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

    /// Reads a name and follows compression pointers (RFC 1035 §4.1.4). The part of the name at a pointer's target must
    /// end before the part that contains the pointer begins. Each jump therefore leads further back, and no message can
    /// cause an endless loop.
    mutating func readName() throws(WireError) -> Name {
        let start = offset
        var walk = NameWalk(start: start, limit: bytes.count)
        while true {
            let cursor = walk.cursor
            guard cursor < walk.limit else { throw walk.error(beyond: 1, of: bytes.count) }
            let byte = bytes[cursor]
            if byte == 0 { break }
            switch byte >> 6 {
            case 0b00:
                let next = cursor + 1 + Int(byte)
                guard next <= walk.limit else { throw walk.error(beyond: Int(byte), of: bytes.count) }
                walk.length += next - cursor
                guard walk.length <= Name.lengthLimit else { throw WireError(offset: start, reason: .nameTooLong) }
                walk.cursor = next
            case 0b11:
                guard cursor + 1 < walk.limit else { throw walk.error(beyond: 2, of: bytes.count) }
                let target = Int(byte & 0x3F) << 8 | Int(bytes[cursor + 1])
                let isWholeName = cursor == walk.first
                try walk.jump(to: target)
                // The name consists of a pointer only, as most names do.
                if isWholeName, let name = known.first(where: { $0.offset == target })?.name {
                    offset = start + 2
                    return name
                }
            default:
                throw WireError(offset: cursor, reason: .reservedLabel(byte))
            }
        }
        offset = walk.end ?? walk.cursor + 1
        let name = Name(trusted: copyName(at: start, length: walk.length))
        if walk.length > 1, known.count < Self.knownLimit { known.append((walk.first, name)) }
        return name
    }

    /// Copies a name that the first pass validated. This second pass needs no checks and only one allocation.
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

/// The state of reading a name.
private struct NameWalk {
    var cursor: Int
    /// The length of the uncompressed name with its final zero, in bytes.
    var length = 1
    /// The offset of the first label, after any leading pointers.
    private(set) var first: Int
    /// The offset at which reading resumes after the name. Nil before the first pointer: without pointers, reading
    /// resumes after the name's final zero.
    private(set) var end: Int?
    /// The end of the current part of the name: the end of the message for the first part, then the start of the part
    /// whose pointer leads to this one.
    private(set) var limit: Int
    private var partStart: Int
    private var pointers = 0

    init(start: Int, limit: Int) {
        (cursor, first, partStart) = (start, start, start)
        self.limit = limit
    }

    mutating func jump(to target: Int) throws(WireError) {
        guard target < partStart else { throw WireError(offset: cursor, reason: .pointerNotBackwards(to: target)) }
        pointers += 1
        guard pointers <= Name.pointerLimit else { throw WireError(offset: cursor, reason: .tooManyPointers) }
        if cursor == first { first = target }
        end = end ?? cursor + 2
        limit = partStart
        (cursor, partStart) = (target, target)
    }

    /// Returns the error for a part that ends before the next `count` bytes.
    func error(beyond count: Int, of messageLength: Int) -> WireError {
        WireError(offset: cursor, reason: limit < messageLength ? .overlappingName : .truncated(needed: count))
    }
}
