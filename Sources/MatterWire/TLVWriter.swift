/// Encodes TLV (Matter A.7) with the smallest possible widths.
struct TLVWriter {
    /// The bytes that are written.
    private(set) var bytes: [UInt8] = []

    /// The width of a length or integer, as the exponent of 2.
    private typealias Width = UInt8

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Writes an element.
    mutating func write(_ element: TLVElement) { write(element.tag, element.value) }

    private mutating func write(_ tag: TLVTag, _ value: TLVValue) {
        switch value {
        case .signed(let number):
            let width = Self.width(number)
            begin(tag, 0x00 | width)
            append(UInt64(bitPattern: number), 1 << Int(width))
        case .unsigned(let number):
            let width = Self.width(number)
            begin(tag, 0x04 | width)
            append(number, 1 << Int(width))
        case .boolean(let truth): begin(tag, truth ? 0x09 : 0x08)
        case .float(let number):
            begin(tag, 0x0A)
            append(UInt64(number.bitPattern), 4)
        case .double(let number):
            begin(tag, 0x0B)
            append(number.bitPattern, 8)
        case .text(let text):
            begin(tag, 0x0C, length: text.utf8.count)
            bytes += text.utf8
        case .bytes(let octets):
            begin(tag, 0x10, length: octets.count)
            bytes += octets
        case .null: begin(tag, 0x14)
        case .structure(let members): write(tag, 0x15, members)
        case .array(let values):
            begin(tag, 0x16)
            for value in values { write(.anonymous, value) }
            bytes.append(0x18)
        case .list(let members): write(tag, 0x17, members)
        }
    }

    private mutating func write(_ tag: TLVTag, _ type: UInt8, _ members: [TLVElement]) {
        begin(tag, type)
        for member in members { write(member) }
        bytes.append(0x18)
    }

    /// Writes the control byte and the tag.
    private mutating func begin(_ tag: TLVTag, _ type: UInt8) {
        switch tag {
        case .anonymous: bytes.append(type)
        case .context(let number): bytes += [0x20 | type, number]
        case .commonProfile(let number): begin(0x40, type, number)
        case .implicitProfile(let number): begin(0x80, type, number)
        case .fullyQualified(let vendor, let profile, let number):
            bytes.append((Self.isShort(number) ? 0xC0 : 0xE0) | type)
            append(UInt64(vendor), 2)
            append(UInt64(profile), 2)
            append(UInt64(number), Self.isShort(number) ? 2 : 4)
        }
    }

    private mutating func begin(_ control: UInt8, _ type: UInt8, _ number: UInt32) {
        bytes.append((Self.isShort(number) ? control : control + 0x20) | type)
        append(UInt64(number), Self.isShort(number) ? 2 : 4)
    }

    /// Writes the control byte, the tag and the length of a text or octet string.
    private mutating func begin(_ tag: TLVTag, _ type: UInt8, length: Int) {
        let width = Self.width(UInt64(length))
        begin(tag, type | width)
        append(UInt64(length), 1 << Int(width))
    }

    /// Writes the low bytes of a number in little-endian order.
    private mutating func append(_ number: UInt64, _ count: Int) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }

    private static func isShort(_ number: UInt32) -> Bool { number <= 0xFFFF }

    private static func width(_ number: UInt64) -> Width {
        switch number {
        case 0...0xFF: 0
        case 0x100...0xFFFF: 1
        case 0x1_0000...0xFFFF_FFFF: 2
        default: 3
        }
    }

    private static func width(_ number: Int64) -> Width {
        if Int8(exactly: number) != nil { return 0 }
        if Int16(exactly: number) != nil { return 1 }
        return Int32(exactly: number) != nil ? 2 : 3
    }

    /// Returns the number of bytes of a tag.
    static func count(of tag: TLVTag) -> Int {
        switch tag {
        case .anonymous: 0
        case .context: 1
        case .commonProfile(let number), .implicitProfile(let number): isShort(number) ? 2 : 4
        case .fullyQualified(_, _, let number): isShort(number) ? 6 : 8
        }
    }

    /// Returns the number of bytes of a value with its control byte.
    static func count(of value: TLVValue) -> Int {
        switch value {
        case .signed(let number): 1 + (1 << Int(width(number)))
        case .unsigned(let number): 1 + (1 << Int(width(number)))
        case .boolean, .null: 1
        case .float: 5
        case .double: 9
        case .text(let text): 1 + (1 << Int(width(UInt64(text.utf8.count)))) + text.utf8.count
        case .bytes(let octets): 1 + (1 << Int(width(UInt64(octets.count)))) + octets.count
        case .structure(let members), .list(let members):
            members.reduce(2) { $0 + count(of: $1.tag) + count(of: $1.value) }
        case .array(let values): values.reduce(2) { $0 + count(of: $1) }
        }
    }
}
