/// The items of pairing messages (HAP 14.1): a type of one byte, a length of one byte, and the value. A value of more
/// than 255 bytes is split into consecutive fragments of the same type. An item of a different type must separate two
/// items of the same type.
public struct TLV8: Hashable, Sendable {
    /// An item, or several fragments that were joined.
    public struct Item: Hashable, Sendable {
        /// The type of the item.
        public var type: UInt8
        /// The value, at most ``valueLimit`` bytes in a decoded message.
        public var value: [UInt8]

        /// Creates an item.
        public init(_ type: UInt8, _ value: [UInt8]) { (self.type, self.value) = (type, value) }
    }

    /// The limit of items per message.
    public static let itemLimit = 128
    /// The limit of a value in bytes, all its fragments included.
    public static let valueLimit = 4096
    static let fragment = 255

    /// The items in the order of the message.
    public private(set) var items: [Item]

    /// Creates a message from items.
    public init(_ items: [Item] = []) { self.items = items }

    /// Decodes a message.
    ///
    /// - Throws: ``HomeKitError`` if the bytes are not valid.
    public init(decoding bytes: some Sequence<UInt8>) throws(HomeKitError) {
        items = []
        var rest = Array(bytes)[...]
        /// True if the last fragment was full, so that the next item may continue it.
        var continues = false
        while let type = rest.popFirst() {
            guard let length = rest.popFirst() else { throw .noLength(type: type) }
            guard rest.count >= Int(length) else {
                throw .fragmentTooShort(type: type, length: Int(length), available: rest.count)
            }
            let value = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            if continues, let last = items.indices.last, items[last].type == type {
                items[last].value += value
                guard items[last].value.count <= Self.valueLimit else { throw .valueTooLong(type: type) }
            } else {
                guard items.last?.type != type else { throw .noSeparator(type: type) }
                guard items.count < Self.itemLimit else { throw .tooManyItems }
                items.append(Item(type, Array(value)))
            }
            continues = Int(length) == Self.fragment
        }
    }

    /// The encoded message.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for item in items {
            var rest = item.value[...]
            repeat {
                let part = rest.prefix(Self.fragment)
                bytes += [item.type, UInt8(part.count)] + part
                rest = rest.dropFirst(part.count)
            } while !rest.isEmpty
        }
        return bytes
    }

    /// The first value of the type, or nil if no item has the type.
    public subscript(type: UInt8) -> [UInt8]? { items.first { $0.type == type }?.value }

    /// Appends an item.
    public mutating func append(_ type: UInt8, _ value: [UInt8]) { items.append(Item(type, value)) }
}
