/// A JSON object whose values are texts, numbers, booleans and nulls, read from bytes that somebody else wrote. A nested value and a key that
/// comes twice are errors.
public struct JSONScalars: Hashable, Sendable {
    public enum Value: Hashable, Sendable {
        case text(String)
        case number(Double)
        case boolean(Bool)
        case null
    }

    /// Stops a message with thousands of keys from being gone through.
    public static let keyLimit = 32

    public private(set) var values: [String: Value] = [:]

    /// - Throws: what is not such an object, and where.
    public init(_ bytes: [UInt8]) throws(JSONError) {
        values = try JSONReader.read(bytes) { reader throws(JSONError) in
            var values: [String: Value] = [:]
            try reader.object { key, reader throws(JSONError) in
                guard values.count < Self.keyLimit else { throw reader.fault("more than \(Self.keyLimit) keys") }
                guard values.updateValue(try Self.scalar(&reader), forKey: key) == nil else {
                    throw reader.fault("duplicate key")
                }
            }
            return values
        }
    }

    private static func scalar(_ reader: inout JSONReader) throws(JSONError) -> Value {
        switch reader.next() {
        case UInt8(ascii: "{"), UInt8(ascii: "["): throw reader.fault("nested value")
        case UInt8(ascii: "\""): .text(try reader.text())
        case UInt8(ascii: "t") where reader.word("true"): .boolean(true)
        case UInt8(ascii: "f") where reader.word("false"): .boolean(false)
        case UInt8(ascii: "n") where reader.word("null"): .null
        case _: .number(try reader.number())
        }
    }
}
