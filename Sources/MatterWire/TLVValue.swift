/// The tag of a TLV element (Matter A.2).
public enum TLVTag: Hashable, Sendable {
    /// No tag: a top-level value or a member of an array.
    case anonymous
    /// A tag whose meaning depends on the structure that contains it.
    case context(UInt8)
    /// A tag of the Matter common profile.
    case commonProfile(UInt32)
    /// A tag of a profile that both sides know.
    case implicitProfile(UInt32)
    /// A tag with its vendor and profile.
    case fullyQualified(vendor: UInt16, profile: UInt16, tag: UInt32)
}

/// A value with its tag (Matter A.1).
public struct TLVElement: Hashable, Sendable {
    /// The tag.
    public var tag: TLVTag
    /// The value.
    public var value: TLVValue

    /// Creates an element.
    public init(_ tag: TLVTag, _ value: TLVValue) { (self.tag, self.value) = (tag, value) }

    /// Decodes exactly one element.
    ///
    /// - Throws: ``MatterError`` if the bytes are not one valid element, if more bytes follow, if containers are nested
    ///   deeper than ``TLVLimits/depth``, or if there are more than ``TLVLimits/elements`` elements.
    public init(decoding bytes: some Collection<UInt8>) throws(MatterError) { self = try TLVReader.decode(bytes) }

    /// The encoded element.
    public var encoded: [UInt8] {
        var writer = TLVWriter(capacity: encodedCount)
        writer.write(self)
        return writer.bytes
    }

    /// The number of bytes of ``encoded``.
    public var encodedCount: Int { TLVWriter.count(of: tag) + TLVWriter.count(of: value) }
}

/// The limits for decoded TLV. They protect the stack and the memory against hostile messages.
public enum TLVLimits {
    /// The limit of nested containers. The deepest message of the interaction model with an access control list has 8.
    public static let depth = 12
    /// The limit of elements per decoded top-level element.
    public static let elements = 4096
}

/// A value in Matter's TLV encoding (Matter A.11).
public enum TLVValue: Hashable, Sendable {
    /// A signed integer.
    case signed(Int64)
    /// An unsigned integer.
    case unsigned(UInt64)
    /// A truth value.
    case boolean(Bool)
    /// A floating-point number of 32 bits.
    case float(Float)
    /// A floating-point number of 64 bits.
    case double(Double)
    /// A UTF-8 text.
    case text(String)
    /// An octet string.
    case bytes([UInt8])
    /// No value.
    case null
    /// Members with tags.
    case structure([TLVElement])
    /// Members without tags.
    case array([TLVValue])
    /// Members with or without tags, whose order is significant.
    case list([TLVElement])

    /// Decodes exactly one element without a tag.
    ///
    /// - Throws: ``MatterError`` like ``TLVElement/init(decoding:)``, or if the element has a tag.
    public init(decoding bytes: some Collection<UInt8>) throws(MatterError) {
        let element = try TLVReader.decode(bytes)
        guard element.tag == .anonymous else { throw .invalid("TLV: the top-level element has a tag") }
        self = element.value
    }

    /// Creates a structure with context tags in the given order. Members that are nil are omitted.
    public static func fields(_ members: (UInt8, TLVValue?)...) -> TLVValue { .structure(Self.tagged(members)) }

    /// Creates a list with context tags in the given order. Members that are nil are omitted.
    public static func listed(_ members: (UInt8, TLVValue?)...) -> TLVValue { .list(Self.tagged(members)) }

    static func fields(members: [(UInt8, TLVValue?)]) -> TLVValue { .structure(tagged(members)) }

    private static func tagged(_ members: [(UInt8, TLVValue?)]) -> [TLVElement] {
        var elements: [TLVElement] = []
        elements.reserveCapacity(members.count)
        for case (let tag, let value?) in members { elements.append(TLVElement(.context(tag), value)) }
        return elements
    }

    /// The member with the context tag, or nil if the value is not a structure or list, or has no such member.
    public subscript(context: UInt8) -> TLVValue? { members?.first { $0.tag == .context(context) }?.value }

    /// The members of a structure or list, or nil for a value of a different type.
    public var members: [TLVElement]? {
        switch self {
        case .structure(let members), .list(let members): members
        case .signed, .unsigned, .boolean, .float, .double, .text, .bytes, .null, .array: nil
        }
    }

    /// The members of an array, or nil for a value of a different type.
    public var elements: [TLVValue]? { if case .array(let values) = self { values } else { nil } }

    /// The value as an unsigned integer, or nil if it is not an integer or is negative.
    public var asUnsigned: UInt64? {
        switch self {
        case .unsigned(let value): value
        case .signed(let value): UInt64(exactly: value)
        case .boolean, .float, .double, .text, .bytes, .null, .structure, .array, .list: nil
        }
    }

    /// The value as a signed integer, or nil if it is not an integer or is more than `Int64.max`.
    public var asSigned: Int64? {
        switch self {
        case .signed(let value): value
        case .unsigned(let value): Int64(exactly: value)
        case .boolean, .float, .double, .text, .bytes, .null, .structure, .array, .list: nil
        }
    }

    /// The truth value, or nil for a value of a different type.
    public var asBoolean: Bool? { if case .boolean(let value) = self { value } else { nil } }

    /// The text, or nil for a value of a different type.
    public var asText: String? { if case .text(let value) = self { value } else { nil } }

    /// The octet string, or nil for a value of a different type.
    public var asBytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }

    /// True if the value is null.
    public var isNull: Bool { self == .null }

    /// The value as an unsigned integer of the type, or nil if it is not an integer or does not fit.
    public func unsigned<N: FixedWidthInteger & UnsignedInteger>(_ type: N.Type) -> N? {
        asUnsigned.flatMap { N(exactly: $0) }
    }

    /// The value as a signed integer of the type, or nil if it is not an integer or does not fit.
    public func signed<N: FixedWidthInteger & SignedInteger>(_ type: N.Type) -> N? {
        asSigned.flatMap { N(exactly: $0) }
    }

    /// The value, encoded without a tag.
    public var encoded: [UInt8] { TLVElement(.anonymous, self).encoded }

    /// The number of bytes of ``encoded``. With a context tag the value has one byte more.
    public var encodedCount: Int { TLVWriter.count(of: self) }
}
