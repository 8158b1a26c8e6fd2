import MatterWire

extension TLVValue {
    /// An unsigned integer of any width.
    static func number(_ value: some FixedWidthInteger & UnsignedInteger) -> TLVValue { .unsigned(UInt64(value)) }

    /// An unsigned integer, or null.
    static func number(orNull value: (some FixedWidthInteger & UnsignedInteger)?) -> TLVValue {
        value.map { .unsigned(UInt64($0)) } ?? .null
    }

    /// An array of unsigned integers.
    static func numbers(_ values: some Sequence<some FixedWidthInteger & UnsignedInteger>) -> TLVValue {
        .array(values.map { .unsigned(UInt64($0)) })
    }

    /// A structure with context tags. Members that are nil are omitted.
    static func members(_ members: [(UInt8, TLVValue?)]) -> TLVValue {
        .structure(members.compactMap { tag, value in value.map { TLVElement(.context(tag), $0) } })
    }

    /// The tag of the fabric index in fabric-scoped structures (Matter 7.13.6).
    static let fabricIndexTag: UInt8 = 0xFE

    /// Returns a required unsigned field of a command.
    ///
    /// - Throws: `invalidCommand` if it is missing or not an integer, `constraintError` if it exceeds `limits`.
    func field<N: FixedWidthInteger & UnsignedInteger>(
        _ tag: UInt8, _ type: N.Type, in limits: ClosedRange<N> = N.min...N.max
    ) throws(InteractionStatus) -> N {
        guard let value = self[tag]?.asUnsigned else { throw InteractionStatus(.invalidCommand) }
        guard let number = N(exactly: value), limits.contains(number) else { throw InteractionStatus(.constraintError) }
        return number
    }

    /// Returns an unsigned field of a command that is null or missing, or an integer.
    ///
    /// - Throws: like ``field(_:_:in:)``, except if it is missing.
    func nullableField<N: FixedWidthInteger & UnsignedInteger>(
        _ tag: UInt8, _ type: N.Type, in limits: ClosedRange<N> = N.min...N.max
    ) throws(InteractionStatus) -> N? {
        guard let value = self[tag], !value.isNull else { return nil }
        return try field(tag, type, in: limits)
    }

    /// Returns a required text field of a command.
    ///
    /// - Throws: `invalidCommand` if it is missing or not a text, `constraintError` if it is longer than `limit` bytes.
    func textField(_ tag: UInt8, limit: Int) throws(InteractionStatus) -> String {
        guard let text = self[tag]?.asText else { throw InteractionStatus(.invalidCommand) }
        guard text.utf8.count <= limit else { throw InteractionStatus(.constraintError) }
        return text
    }

    /// Returns a required octet string of a command.
    ///
    /// - Throws: `invalidCommand` if it is missing or not an octet string, `constraintError` if its length is wrong.
    func bytesField(_ tag: UInt8, _ lengths: ClosedRange<Int>) throws(InteractionStatus) -> [UInt8] {
        guard let bytes = self[tag]?.asBytes else { throw InteractionStatus(.invalidCommand) }
        guard lengths.contains(bytes.count) else { throw InteractionStatus(.constraintError) }
        return bytes
    }
}
