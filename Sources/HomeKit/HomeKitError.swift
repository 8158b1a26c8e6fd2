/// The reasons why received or stored bytes, accessories or numbers are rejected.
public enum HomeKitError: Error, Hashable, Sendable, CustomStringConvertible {
    // Decoding of ``TLV8``.
    case noLength(type: UInt8)
    case fragmentTooShort(type: UInt8, length: Int, available: Int)
    case valueTooLong(type: UInt8)
    case tooManyItems
    case noSeparator(type: UInt8)

    // HTTP requests. After one of these errors the connection is closed, because the start of the next request is
    // unknown.
    case headTooLong
    case bodyTooLong
    case notARequest
    case invalidHeader
    case invalidLength
    case chunked

    /// Stored ``HomeKitRecords`` are invalid. They are not overwritten, because new records would create a new
    /// accessory.
    case damagedRecords(String)

    // Accessories. HAP 2.6.1 requires nonzero, unique ids.
    case tooManyCharacteristics(Int)
    case invalidAccessoryID(UInt64)
    case invalidInstance(CharacteristicKey)

    /// The library for ``ModularArithmetic`` cannot be loaded.
    case noLibrary(reason: String)
    /// A number for ``ModularArithmetic`` has too many bytes.
    case numberTooLong(bytes: Int)
    /// The modulus is zero; or, with a secret exponent, the modulus is even or the exponent is zero.
    case invalidNumber

    public var description: String {
        switch self {
        case .noLength(let type): "invalid TLV8: item of type \(type) has no length"
        case .fragmentTooShort(let type, let length, let available):
            "invalid TLV8: fragment of type \(type) has a length of \(length) and \(available) bytes follow"
        case .valueTooLong(let type): "invalid TLV8: value of type \(type) has more than \(TLV8.valueLimit) bytes"
        case .noSeparator(let type): "invalid TLV8: two items of type \(type) have no item of another type between them"
        case .tooManyItems: "invalid TLV8: more than \(TLV8.itemLimit) items"
        case .headTooLong: "invalid request: its head has more than \(HTTPRequestReader.headLimit) bytes"
        case .bodyTooLong: "invalid request: its body has more than \(HTTPRequestReader.bodyLimit) bytes"
        case .notARequest: "invalid request: its first line is not METHOD PATH HTTP/1.1"
        case .invalidHeader: "invalid request: a header line has no name, or continues the previous line"
        case .invalidLength: "invalid request: Content-Length is not a number, or is given twice"
        case .chunked: "invalid request: its body has a Transfer-Encoding; send Content-Length"
        case .damagedRecords(let reason):
            "the HomeKit records are damaged: \(reason)\nhint: remove them to pair again; this removes all controllers"
        case .tooManyCharacteristics(let count):
            "\(count) characteristics: an accessory server has at most \(AccessoryTable.limit)"
        case .invalidAccessoryID(let id): "accessory id \(id) is zero or not unique"
        case .invalidInstance(let key):
            "instance id \(key.instance) of accessory \(key.accessory) is zero or not unique"
        case .noLibrary(let reason): "the library for large numbers cannot be loaded: \(reason)\nhint: install libgmp10"
        case .numberTooLong(let bytes):
            "a number has \(bytes) bytes; at most \(ModularArithmeticLimits.bytes) are possible"
        case .invalidNumber: "the modulus is zero; or the exponent is secret, and it is zero or the modulus is even"
        }
    }
}
