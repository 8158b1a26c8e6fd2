import DNSWire

/// The option of a message about a long-lived query (RFC 8764 §3.2).
struct LongLivedQueryOption: Hashable {
    enum Operation: UInt16 {
        case setup = 1
        case refresh = 2
        case event = 3
    }

    /// The errors of a server (RFC 8764 §3.3).
    enum Fault {
        static let serverFull: UInt16 = 1
        /// The records of the question do not change.
        static let isStatic: UInt16 = 2
        static let noSuchQuery: UInt16 = 4
    }

    private static let code: UInt16 = 1
    private static let version: UInt16 = 1
    private static let size = 18

    let operation: Operation
    var error: UInt16 = 0
    /// The number that the server gave to the query; 0 before.
    let id: UInt64
    /// The lifetime of the query in seconds.
    var lease: UInt32

    init(_ operation: Operation, id: UInt64, lease: UInt32) {
        (self.operation, self.id, self.lease) = (operation, id, lease)
    }

    /// Decodes the option of a message; nil if it has none, or one that is not valid.
    init?(_ message: Message) {
        guard let options = try? message.optionsRecord()?.options else { return nil }
        for case .other(Self.code, let data) in options {
            guard data.count == Self.size else { return nil }
            func number(_ range: Range<Int>) -> UInt64 { data[range].reduce(0) { $0 << 8 | UInt64($1) } }
            guard number(0..<2) == Self.version, let operation = Operation(rawValue: UInt16(number(2..<4))) else {
                return nil
            }
            self.operation = operation
            error = UInt16(number(4..<6))
            id = number(6..<14)
            lease = UInt32(number(14..<18))
            return
        }
        return nil
    }

    /// The record for a message.
    var record: Record {
        let data = bigEndian(Self.version) + bigEndian(operation.rawValue) + bigEndian(error) + bigEndian(id)
        return OptionsRecord(options: [.other(code: Self.code, data + bigEndian(lease))]).record
    }
}
