/// The reason why a peer's message is invalid.
enum MessageFault: Error, Hashable {
    /// A field does not have an allowed number of bytes.
    case length(field: String, bytes: Int, allowed: ClosedRange<Int>)
    /// A number is outside its range.
    case outOfRange(field: String, value: Int64, allowed: ClosedRange<Int64>)
    /// A required field is missing.
    case missing(field: String)
    /// A plug id that is not twelve lower-case hexadecimal digits.
    case plugID
}

extension MessageFault: CustomStringConvertible {
    var description: String {
        switch self {
        case .length(let field, let bytes, let allowed):
            "\(field) has \(bytes) bytes; \(allowed.lowerBound) to \(allowed.upperBound) are allowed"
        case .outOfRange(let field, let value, let allowed):
            "\(field) is \(value); \(allowed.lowerBound) to \(allowed.upperBound) are allowed"
        case .missing(let field): "\(field) is missing"
        case .plugID: "plug_id is not twelve lower-case hexadecimal digits"
        }
    }
}
