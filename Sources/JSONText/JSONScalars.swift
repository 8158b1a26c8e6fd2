/// A JSON object whose values are texts, numbers, booleans and nulls, read from untrusted bytes. A nested value and a
/// repeated key are errors.
public struct JSONScalars: Hashable, Sendable {
    /// A value of the object.
    public enum Value: Hashable, Sendable {
        case text(String)
        case number(Double)
        case boolean(Bool)
        case null
    }

    /// The limit of keys, which bounds the work for one message.
    public static let keyLimit = 32

    /// The values by their keys.
    public private(set) var values: [String: Value] = [:]

    /// Parses an object.
    ///
    /// - Throws: the reason and the position if the bytes are not such an object.
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
