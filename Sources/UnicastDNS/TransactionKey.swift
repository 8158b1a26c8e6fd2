import Crypto
public import DNSWire

/// A secret that a program shares with a name server. It signs the messages in both directions (TSIG, RFC 8945), with
/// HMAC-SHA-256, which every server supports.
public struct TransactionKey: Sendable {
    /// The name by which the server knows the key.
    public let name: Name
    private let secret: SymmetricKey

    /// The limits of a secret in bytes. RFC 8945 §8 recommends at least the length of the hash.
    static let secretLengths = 16...256
    /// The largest accepted difference of the clocks (RFC 8945 §10).
    private static let fudge: UInt16 = 300
    fileprivate static let algorithm: Name = "hmac-sha256"
    private static let codeLength = 32
    /// The time to live of the record, which is always zero.
    private static let lifetime = bigEndian(UInt32(0))

    /// Creates a key, or returns nil if the secret is shorter than 16 or longer than 256 bytes.
    public init?(name: Name, secret: [UInt8]) {
        guard Self.secretLengths.contains(secret.count) else { return nil }
        self.name = name
        self.secret = SymmetricKey(data: secret)
    }

    /// A signed request. It verifies the response.
    public struct Request: Sendable {
        /// The message with its signature.
        public let bytes: [UInt8]
        fileprivate let code: [UInt8]
        fileprivate let key: TransactionKey
    }

    /// The reasons why a response is not accepted.
    public enum Rejection: Error, Hashable, Sendable {
        /// The response is not a DNS message, or its signature is missing or wrong.
        case unsigned
        /// The server does not know the key (BADKEY).
        case unknownKey
        /// The server has a different secret for the key (BADSIG).
        case wrongSecret
        /// The clocks differ too much (BADTIME). `server` is the server's time in seconds since 1970, if it was signed.
        case wrongTime(server: UInt64?)
    }

    /// Signs a request.
    ///
    /// - Parameters:
    ///   - message: an encoded message without a signature.
    ///   - time: the current time in seconds since 1970.
    /// - Returns: nil if the message is shorter than a header, or cannot have one more record.
    public func sign(_ message: [UInt8], at time: UInt64) -> Request? {
        guard let id = HeaderField.id.read(message), let count = HeaderField.additionalCount.read(message), count < .max
        else {
            return nil
        }
        let unsigned = Signature(time: time, fudge: Self.fudge, code: [], originalID: id, error: 0, other: [])
        let code = code(over: message + variables(of: unsigned))
        let signature = Signature(time: time, fudge: Self.fudge, code: code, originalID: id, error: 0, other: [])
        let data = signature.data(Self.algorithm)
        let record =
            name.bytes + bigEndian(RecordType.tsig.rawValue) + bigEndian(RecordClass.any.rawValue) + Self.lifetime
            + bigEndian(UInt16(clamping: data.count)) + data
        return Request(
            bytes: HeaderField.additionalCount.write(count + 1, into: message) + record, code: code, key: self)
    }

    /// Returns the part of the digest that follows the message (RFC 8945 §4.3.3). Names are in lower case.
    private func variables(of signature: Signature) -> [UInt8] {
        name.lowercased + bigEndian(RecordClass.any.rawValue) + Self.lifetime + Self.algorithm.bytes
            + signature.variables
    }

    private func code(over bytes: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: secret))
    }

    fileprivate func isValid(_ signature: Signature, of message: [UInt8], answering code: [UInt8]) -> Bool {
        guard signature.code.count == Self.codeLength else { return false }
        let digested = bigEndian(UInt16(clamping: code.count)) + code + message + variables(of: signature)
        return HMAC<SHA256>.isValidAuthenticationCode(signature.code, authenticating: digested, using: secret)
    }
}

extension TransactionKey.Request {
    /// Verifies the server's response and returns it without its signature.
    ///
    /// - Parameter time: the current time in seconds since 1970.
    /// - Throws: ``TransactionKey/Rejection``. An unsigned response may only report an unknown key or a wrong secret,
    ///   because the server cannot sign these; the request was then not carried out.
    public func verify(_ response: [UInt8], at time: UInt64) throws(TransactionKey.Rejection) -> Message {
        guard var message = try? Message(decoding: response), message.flags.contains(.response),
            message.id == HeaderField.id.read(bytes), let record = message.additionals.popLast(),
            case .other(.tsig, let data) = record.data, record.name == key.name, record.recordClass == .any,
            !record.isCacheFlush, record.timeToLive == 0,
            let signature = Signature(data, algorithm: TransactionKey.algorithm),
            let start = startOfLastRecord(response)
        else { throw .unsigned }
        if signature.code.isEmpty {
            switch signature.error {
            case Signature.badSignature: throw .wrongSecret
            case Signature.badKey: throw .unknownKey
            default: throw .unsigned
            }
        }
        let stripped = HeaderField.additionalCount.write(
            UInt16(clamping: message.additionals.count),
            into: HeaderField.id.write(signature.originalID, into: Array(response[..<start])))
        guard key.isValid(signature, of: stripped, answering: code) else { throw .unsigned }
        if signature.error == Signature.badTime {
            let server = signature.other.count == 6 ? signature.other.reduce(0) { $0 << 8 | UInt64($1) } : nil
            throw .wrongTime(server: server)
        }
        guard max(time, signature.time) - min(time, signature.time) <= UInt64(signature.fudge) else {
            throw .wrongTime(server: signature.time)
        }
        return message
    }
}

/// The data of a TSIG record (RFC 8945 §4.2), without the name of the algorithm.
private struct Signature {
    static let badSignature: UInt16 = 16
    static let badKey: UInt16 = 17
    static let badTime: UInt16 = 18

    /// Seconds since 1970, 48 bits.
    let time: UInt64
    let fudge: UInt16
    let code: [UInt8]
    let originalID: UInt16
    let error: UInt16
    let other: [UInt8]

    /// The fields that are part of the digest.
    var variables: [UInt8] { timing + bigEndian(error) + counted(other) }

    private var timing: [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: time >> UInt64(8 * (5 - $0))) } + bigEndian(fudge)
    }

    func data(_ algorithm: Name) -> [UInt8] {
        algorithm.bytes + timing + counted(code) + bigEndian(originalID) + bigEndian(error) + counted(other)
    }

    private func counted(_ bytes: [UInt8]) -> [UInt8] { bigEndian(UInt16(clamping: bytes.count)) + bytes }

    init(time: UInt64, fudge: UInt16, code: [UInt8], originalID: UInt16, error: UInt16, other: [UInt8]) {
        self.time = time
        self.fudge = fudge
        self.code = code
        self.originalID = originalID
        self.error = error
        self.other = other
    }

    /// Decodes the data, or returns nil if a field is missing or the algorithm is a different one.
    init?(_ data: [UInt8], algorithm: Name) {
        guard data.prefix(algorithm.bytes.count).elementsEqual(algorithm.bytes) else { return nil }
        var rest = data.dropFirst(algorithm.bytes.count)
        func take(_ count: Int) -> [UInt8]? {
            guard rest.count >= count else { return nil }
            defer { rest.removeFirst(count) }
            return Array(rest.prefix(count))
        }
        func number(_ count: Int) -> UInt64? { take(count)?.reduce(0) { $0 << 8 | UInt64($1) } }
        guard let time = number(6), let fudge = number(2), let codeLength = number(2), let code = take(Int(codeLength)),
            let id = number(2), let error = number(2), let otherLength = number(2), let other = take(Int(otherLength)),
            rest.isEmpty
        else { return nil }
        self.init(
            time: time, fudge: UInt16(fudge), code: code, originalID: UInt16(id), error: UInt16(error), other: other)
    }
}

/// Returns the offset of the last record of a message that was decoded without errors.
private func startOfLastRecord(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 12 else { return nil }
    func number(_ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
    let (questions, records) = (number(4), number(6) + number(8) + number(10))
    var (offset, start) = (12, 12)
    for index in 0..<(questions + records) {
        start = offset
        while offset < bytes.count, (1...Name.labelLimit).contains(Int(bytes[offset])) {
            offset += 1 + Int(bytes[offset])
        }
        guard offset < bytes.count else { return nil }
        // A name ends with the root or with a pointer of two bytes.
        offset += bytes[offset] == 0 ? 1 : 2
        if index < questions {
            offset += 4
        } else {
            guard offset + 10 <= bytes.count else { return nil }
            offset += 10 + number(offset + 8)
        }
    }
    return offset <= bytes.count ? start : nil
}

extension Name {
    fileprivate var lowercased: [UInt8] { bytes.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 } }
}

extension RecordType {
    /// The signature of a message (RFC 8945).
    static let tsig = RecordType(rawValue: 250)
}
