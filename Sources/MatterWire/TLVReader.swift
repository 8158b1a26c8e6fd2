/// Decodes TLV (Matter A.7). Reads each byte once and copies only texts and octet strings.
struct TLVReader {
    private let bytes: [UInt8]
    private var position = 0
    private var remainingElements = TLVLimits.elements

    private static let endOfContainer: UInt8 = 0x18

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Decodes exactly one element.
    static func decode(_ bytes: some Collection<UInt8>) throws(MatterError) -> TLVElement {
        var reader = TLVReader(Array(bytes))
        guard let element = try reader.element(depth: 0) else { throw .invalid("TLV: the end of a container is first") }
        guard reader.position == reader.bytes.count else { throw .invalid("TLV: bytes follow the element") }
        return element
    }

    /// Reads an element, or returns nil at the end of a container.
    private mutating func element(depth: Int) throws(MatterError) -> TLVElement? {
        let control = UInt8(truncatingIfNeeded: try integer(1))
        guard control != Self.endOfContainer else { return nil }
        guard remainingElements > 0 else { throw .exceedsLimit("TLV: more than \(TLVLimits.elements) elements") }
        remainingElements -= 1
        let tag = try tag(control >> 5)
        return TLVElement(tag, try value(control & 0x1F, depth: depth))
    }

    private mutating func tag(_ control: UInt8) throws(MatterError) -> TLVTag {
        switch control {
        case 0: return .anonymous
        case 1: return .context(UInt8(truncatingIfNeeded: try integer(1)))
        case 2: return .commonProfile(UInt32(truncatingIfNeeded: try integer(2)))
        case 3: return .commonProfile(UInt32(truncatingIfNeeded: try integer(4)))
        case 4: return .implicitProfile(UInt32(truncatingIfNeeded: try integer(2)))
        case 5: return .implicitProfile(UInt32(truncatingIfNeeded: try integer(4)))
        default:
            let vendor = UInt16(truncatingIfNeeded: try integer(2))
            let profile = UInt16(truncatingIfNeeded: try integer(2))
            let tag = UInt32(truncatingIfNeeded: try integer(control == 6 ? 2 : 4))
            return .fullyQualified(vendor: vendor, profile: profile, tag: tag)
        }
    }

    private mutating func value(_ type: UInt8, depth: Int) throws(MatterError) -> TLVValue {
        let width = 1 << Int(type & 3)
        switch type {
        case 0x00...0x03:
            let unused = 64 - 8 * width
            return .signed(Int64(bitPattern: try integer(width) << unused) >> unused)
        case 0x04...0x07: return .unsigned(try integer(width))
        case 0x08: return .boolean(false)
        case 0x09: return .boolean(true)
        case 0x0A: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: try integer(4))))
        case 0x0B: return .double(Double(bitPattern: try integer(8)))
        case 0x0C...0x0F:
            guard let text = String(validating: try octets(lengthWidth: width), as: UTF8.self) else {
                throw .invalid("TLV: a text is not valid UTF-8")
            }
            return .text(text)
        case 0x10...0x13: return .bytes(Array(try octets(lengthWidth: width)))
        case 0x14: return .null
        case 0x15:
            let members = try members(depth: depth)
            guard !members.contains(where: { $0.tag == .anonymous }) else {
                throw .invalid("TLV: a member of a structure has no tag")
            }
            return .structure(members)
        case 0x16: return .array(try values(depth: depth))
        case 0x17: return .list(try members(depth: depth))
        default: throw .invalid("TLV: element type \(type) is not defined")
        }
    }

    /// Reads the members of a structure or list until the end of the container.
    private mutating func members(depth: Int) throws(MatterError) -> [TLVElement] {
        try Self.checkDepth(depth)
        var members: [TLVElement] = []
        while let member = try element(depth: depth + 1) { members.append(member) }
        return members
    }

    /// Reads the members of an array until the end of the container.
    private mutating func values(depth: Int) throws(MatterError) -> [TLVValue] {
        try Self.checkDepth(depth)
        var values: [TLVValue] = []
        while let member = try element(depth: depth + 1) {
            guard member.tag == .anonymous else { throw .invalid("TLV: a member of an array has a tag") }
            values.append(member.value)
        }
        return values
    }

    private static func checkDepth(_ depth: Int) throws(MatterError) {
        guard depth < TLVLimits.depth else {
            throw .exceedsLimit("TLV: more than \(TLVLimits.depth) nested containers")
        }
    }

    /// Reads a little-endian integer of 1 to 8 bytes.
    private mutating func integer(_ width: Int) throws(MatterError) -> UInt64 {
        guard bytes.count - position >= width else { throw .invalid("TLV: the bytes end within an element") }
        var value: UInt64 = 0
        for index in 0..<width { value |= UInt64(bytes[position + index]) << (8 * index) }
        position += width
        return value
    }

    /// Reads a length and so many bytes.
    private mutating func octets(lengthWidth: Int) throws(MatterError) -> ArraySlice<UInt8> {
        let length = try integer(lengthWidth)
        guard length <= UInt64(bytes.count - position) else {
            throw .invalid("TLV: a length is beyond the end of the bytes")
        }
        let start = position
        position += Int(length)
        return bytes[start..<position]
    }
}
