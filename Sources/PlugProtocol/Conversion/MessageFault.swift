/// Why a message of a peer cannot be taken as it is.
enum MessageFault: Error, Hashable {
    /// A field has the wrong number of bytes.
    case length(field: String, bytes: Int, allowed: ClosedRange<Int>)
    case outOfRange(field: String, value: Int64, allowed: ClosedRange<Int64>)
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
