/// The attributes of a service (RFC 6763 §6): `key=value` strings. Comparison of keys ignores ASCII case.
public struct TXTRecord: Hashable, Sendable {
    /// One attribute.
    public struct Attribute: Hashable, Sendable {
        /// The key, in the case in which it was received or set.
        public let key: String
        /// Any bytes; nil for a key without "=", which is present without a value.
        public let value: [UInt8]?
    }

    /// The attributes in the order of the record, with unique keys.
    public private(set) var attributes: [Attribute] = []

    /// Creates a record without attributes.
    public init() {}

    /// Creates a record with text values.
    public init(_ pairs: KeyValuePairs<String, String>) throws(ServiceDiscoveryError) {
        for (key, value) in pairs { try set(key, Array(value.utf8)) }
    }

    /// Adds an attribute, or changes an existing one in place. Throws if the key is not valid, or if the attribute or
    /// the record would be too long.
    public mutating func set(_ key: String, _ value: [UInt8]?) throws(ServiceDiscoveryError) {
        guard Self.isKey(key.utf8) else { throw .badKey(key) }
        let length = key.utf8.count + (value.map { 1 + $0.count } ?? 0)
        guard length <= RFC6763.attributeLimit else { throw .attributeTooLong(key, count: length) }
        var changed = self
        let attribute = Attribute(key: key, value: value)
        if let index = index(of: key) {
            changed.attributes[index] = attribute
        } else {
            changed.attributes.append(attribute)
        }
        let count = changed.encoded.count
        guard count <= RFC6763.textLimit else { throw .recordTooLong(count: count) }
        self = changed
    }

    /// Removes an attribute, if it exists.
    public mutating func remove(_ key: String) {
        if let index = index(of: key) { attributes.remove(at: index) }
    }

    /// Returns true if the key exists, with or without a value.
    public func contains(_ key: String) -> Bool { index(of: key) != nil }

    /// Returns the value as bytes, or nil if the key is missing or has no value.
    public func bytes(_ key: String) -> [UInt8]? { index(of: key).flatMap { attributes[$0].value } }

    /// The value as text; nil if the key is missing, has no value, or the value is not UTF-8.
    public subscript(key: String) -> String? { bytes(key).flatMap { String(validating: $0, as: UTF8.self) } }

    private func index(of key: String) -> Int? {
        attributes.firstIndex { folded($0.key) == folded(key) }
    }

    private func folded(_ key: String) -> [UInt8] {
        key.utf8.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }
    }

    /// Returns true for a valid key: at least one character of printable ASCII, without "=" (§6.4).
    private static func isKey(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }
    }

    /// The limit of attributes. Each key is compared with all previous ones, and a packet full of keys must not take
    /// seconds.
    private static let readLimit = 128

    /// Decodes the data of a TXT record. Invalid data is not an error: §6.4 requires readers to ignore strings that
    /// begin with "=" and repeated keys. Keys with invalid characters, attributes after the 128th, and a string that
    /// extends past the end are ignored as well.
    public init(decoding data: [UInt8]) {
        var rest = data[...]
        while attributes.count < Self.readLimit, let length = rest.popFirst(), Int(length) <= rest.count {
            let string = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            let name = string.prefix { $0 != UInt8(ascii: "=") }
            let key = String(decoding: name, as: UTF8.self)
            guard Self.isKey(name), index(of: key) == nil else { continue }
            let value = string.firstIndex(of: UInt8(ascii: "=")).map { Array(string[($0 + 1)...]) }
            attributes.append(Attribute(key: key, value: value))
        }
    }

    /// The data of a TXT record; a single empty string if the record has no attributes (§6.1).
    public var encoded: [UInt8] {
        attributes.isEmpty
            ? [0]
            : attributes.flatMap { attribute -> [UInt8] in
                let string = Array(attribute.key.utf8) + (attribute.value.map { [UInt8(ascii: "=")] + $0 } ?? [])
                return [UInt8(truncatingIfNeeded: string.count)] + string
            }
    }
}
