/// Access to the fields of messages of the interaction model, with errors that name the field.
extension TLVValue {
    /// Returns a member.
    func field(_ tag: UInt8, of name: String) throws(MatterError) -> TLVValue {
        guard let value = self[tag] else { throw .invalid("\(name): field \(tag) is missing") }
        return value
    }

    /// Returns an unsigned member.
    func field<N: FixedWidthInteger & UnsignedInteger>(
        _ tag: UInt8, _ type: N.Type, of name: String
    ) throws(MatterError) -> N {
        guard let number = try field(tag, of: name).unsigned(type) else {
            throw .invalid("\(name): field \(tag) has a wrong type or is out of range")
        }
        return number
    }

    /// Returns an unsigned member, or nil if it is missing.
    func optional<N: FixedWidthInteger & UnsignedInteger>(_ tag: UInt8, _ type: N.Type) throws(MatterError) -> N? {
        guard let value = self[tag] else { return nil }
        guard let number = value.unsigned(type) else {
            throw .invalid("interaction model: field \(tag) has a wrong type or is out of range")
        }
        return number
    }

    /// Returns a truth value, which is false if the member is missing.
    func flag(_ tag: UInt8) throws(MatterError) -> Bool {
        guard let value = self[tag] else { return false }
        guard let truth = value.asBoolean else { throw .invalid("interaction model: field \(tag) is not a boolean") }
        return truth
    }

    /// Returns the members of an array, which is empty if it is missing.
    func items(_ tag: UInt8) throws(MatterError) -> [TLVValue] {
        guard let value = self[tag] else { return [] }
        guard let items = value.elements else { throw .invalid("interaction model: field \(tag) is not an array") }
        return items
    }

    /// Returns the paths of a request, decoded.
    ///
    /// - Throws: ``MatterError/interaction(_:_:)`` with `pathsExhausted` if there are more than
    ///   ``InteractionMessage/pathLimit``.
    func paths<Item>(
        _ tag: UInt8, _ decode: (TLVValue) throws(MatterError) -> Item
    ) throws(MatterError) -> [Item] {
        let items = try items(tag)
        guard items.count <= InteractionMessage.pathLimit else {
            throw .interaction(.pathsExhausted, "\(items.count) paths; at most \(InteractionMessage.pathLimit)")
        }
        return try items.map(decode)
    }

    /// Throws if the value is not a list, which paths are.
    func requireList(_ name: String) throws(MatterError) {
        guard case .list = self else { throw .invalid("\(name): it is not a list") }
    }
}

extension Optional where Wrapped: FixedWidthInteger & UnsignedInteger {
    /// The unsigned value, or nil.
    var tlv: TLVValue? { map { .unsigned(UInt64($0)) } }
}

extension Bool {
    /// The value true, or nil: false is omitted.
    var tlvIfTrue: TLVValue? { self ? .boolean(true) : nil }
}

extension [TLVValue] {
    /// The array, or nil if it has no members.
    var tlvIfNotEmpty: TLVValue? { isEmpty ? nil : .array(self) }
}
