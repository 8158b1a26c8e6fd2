/// Selects the names of a message that the encoder may compress.
public enum NameCompression: Hashable, Sendable {
    /// Every name (RFC 6762 §18.14). Used between multicast DNS peers.
    case multicast
    /// The names of questions, the owner names of records, and the names in the data of PTR records (RFC 3597 §4). Used
    /// for resolvers without multicast DNS.
    case unicast
    case none
}

/// Appends fields to a message and remembers the offsets of names, so that later names can point back to them.
struct WireBuffer {
    private(set) var bytes: [UInt8] = []
    private var suffixes: [Suffix] = []
    let limit: Int
    let compression: NameCompression

    /// A suffix of a name in the message. The hash avoids most byte comparisons.
    private struct Suffix {
        let hash: UInt32
        let offset: UInt16
    }

    /// The limit of a pointer's offset, which has 14 bits (RFC 1035 §4.1.4).
    private static let pointerLimit = 0x3FFF

    init(limit: Int, compression: NameCompression) {
        self.limit = limit
        self.compression = compression
        bytes.reserveCapacity(min(limit, 1500))
    }

    /// Runs `write`. If the message exceeds its limit afterwards, restores the previous state and returns false.
    mutating func appendIfItFits(_ write: (inout WireBuffer) -> Void) -> Bool {
        let (byteCount, suffixCount) = (bytes.count, suffixes.count)
        write(&self)
        if bytes.count <= limit { return true }
        bytes.removeSubrange(byteCount...)
        suffixes.removeSubrange(suffixCount...)
        return false
    }

    mutating func append(_ value: UInt16) {
        bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        bytes.append(UInt8(truncatingIfNeeded: value))
    }

    mutating func append(_ value: UInt32) {
        append(UInt16(truncatingIfNeeded: value >> 16))
        append(UInt16(truncatingIfNeeded: value))
    }

    mutating func append(_ bytes: [UInt8]) { self.bytes.append(contentsOf: bytes) }

    mutating func overwrite(_ value: UInt16, at offset: Int) {
        bytes[offset] = UInt8(truncatingIfNeeded: value >> 8)
        bytes[offset + 1] = UInt8(truncatingIfNeeded: value)
    }

    /// Appends a name. Pointers lead only to names with identical bytes, so that every name keeps its case.
    mutating func append(_ name: Name, compressed: Bool = true) {
        guard compressed, compression != .none else {
            bytes.append(contentsOf: name.bytes)
            return
        }
        var offset = 0
        while name.bytes[offset] != 0 {
            let hash = Self.hash(name.bytes, from: offset)
            if let target = suffixes.first(where: { $0.hash == hash && matches(name, from: offset, at: Int($0.offset)) }
            ) {
                append(0xC000 | target.offset)
                return
            }
            if bytes.count <= Self.pointerLimit { suffixes.append(Suffix(hash: hash, offset: UInt16(bytes.count))) }
            let end = offset + 1 + Int(name.bytes[offset])
            bytes.append(contentsOf: name.bytes[offset..<end])
            offset = end
        }
        bytes.append(0)
    }

    /// Returns the FNV-1a hash of the rest of the name. A byte comparison follows, so a collision only costs time.
    private static func hash(_ name: [UInt8], from offset: Int) -> UInt32 {
        name.withUnsafeBufferPointer { name in
            var hash: UInt32 = 2_166_136_261
            for index in offset..<name.count { hash = (hash ^ UInt32(name[index])) &* 16_777_619 }
            return hash
        }
    }

    /// Returns true if the name at `target`, with pointers followed, equals the bytes of `name` from `offset` on.
    private func matches(_ name: Name, from offset: Int, at target: Int) -> Bool {
        var (cursor, offset) = (target, offset)
        while true {
            if bytes[cursor] >> 6 == 0b11 {
                cursor = Int(bytes[cursor] & 0x3F) << 8 | Int(bytes[cursor + 1])
                continue
            }
            let length = Int(bytes[cursor])
            guard length == Int(name.bytes[offset]) else { return false }
            if length == 0 { return true }
            for index in 1...length where bytes[cursor + index] != name.bytes[offset + index] { return false }
            cursor += 1 + length
            offset += 1 + length
        }
    }

    mutating func append(_ question: Question) {
        append(question.name)
        append(question.type.rawValue)
        append(question.recordClass.rawValue | (question.wantsUnicast ? 0x8000 : 0))
    }

    /// Appends what `write` appends, after its length in two bytes.
    mutating func appendWithLength(_ write: (inout WireBuffer) -> Void) {
        let lengthOffset = bytes.count
        append(UInt16(0))
        write(&self)
        overwrite(UInt16(clamping: bytes.count - lengthOffset - 2), at: lengthOffset)
    }

    mutating func append(_ data: RecordData) {
        switch data {
        case .a(let address):
            append(address.rawValue)
        case .aaaa(let address):
            for half in [address.high, address.low] {
                append(UInt32(truncatingIfNeeded: half >> 32))
                append(UInt32(truncatingIfNeeded: half))
            }
        case .ptr(let name):
            append(name)
        case .srv(let priority, let weight, let port, let target):
            append(priority)
            append(weight)
            append(port)
            append(target, compressed: compression == .multicast)
        case .txt(let strings), .other(_, let strings):
            bytes.append(contentsOf: strings)
        case .nsec(let next, let types):
            append(next, compressed: compression == .multicast)
            appendBitmap(types)
        }
    }

    private mutating func appendBitmap(_ types: [RecordType]) {
        var remaining = types.sorted()[...]
        while let first = remaining.first {
            let window = first.rawValue >> 8
            let block = remaining.prefix { $0.rawValue >> 8 == window }
            var bits = [UInt8](repeating: 0, count: Int((block.last ?? first).rawValue & 0xFF) / 8 + 1)
            for type in block { bits[Int(type.rawValue & 0xFF) / 8] |= 0x80 >> UInt8(type.rawValue & 7) }
            append(window << 8 | UInt16(bits.count))
            bytes.append(contentsOf: bits)
            remaining = remaining.dropFirst(block.count)
        }
    }
}

/// Returns the bytes of a number, the most significant one first.
package func bigEndian(_ value: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
    let count = value.bitWidth / 8
    return (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
}
