import JSONText
import RuleFiles

extension JSONReader {
    /// Reads a value of any kind.
    mutating func value() throws(JSONError) -> JSONValue {
        switch next() {
        case UInt8(ascii: "{"):
            var entries: [JSONValue.Entry] = []
            try object { key, reader throws(JSONError) in
                entries.append(JSONValue.Entry(key, try reader.value()))
            }
            return .object(entries)
        case UInt8(ascii: "["):
            var list: [JSONValue] = []
            try self.list { reader throws(JSONError) in list.append(try reader.value()) }
            return .list(list)
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t") where word("true"): return .truth(true)
        case UInt8(ascii: "f") where word("false"): return .truth(false)
        case UInt8(ascii: "n") where word("null"): return .null
        case _: return .number(try numeral())
        }
    }
}
