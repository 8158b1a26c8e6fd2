public import DNSWire
public import ProtocolCore

/// The answer to a question: records, or the proof that no record exists.
public struct ResolvedRecords: Hashable, Sendable {
    /// The records of the requested type, in the order of the server's answer. They may belong to a different name, to
    /// which CNAME records lead. Empty if no record has the requested type.
    public let records: [Record]
    /// False if no record of any type has the name (NXDOMAIN).
    public let nameExists: Bool
    /// The time until which the answer may be used. It is not later than the times to live of all records allow.
    public let expires: Instant
    /// The zone that contains the name, if the answer has no records and the server named the zone.
    var zone: Name?
}

/// The reasons why a question has no answer.
public enum ResolverError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No server is known.
    case noServers
    /// No server answered in time.
    case timeout
    /// All servers reported an error. The code is the RCODE of the last one (RFC 1035 §4.1.1, RFC 6895 §2.3).
    case serverFailure(code: UInt16)
    /// Too many questions wait for answers.
    case tooManyQuestions

    public var description: String {
        switch self {
        case .noServers: "no name server is known; name one in resolv.conf, or connect to a network with DHCP"
        case .timeout: "no name server answered; check the network"
        case .serverFailure(let code): "the name servers cannot answer (code \(code))"
        case .tooManyQuestions: "too many questions wait for answers; try again"
        }
    }
}

/// A server's message, compared with the question that was sent.
enum Reply: Hashable {
    /// The bytes are not the answer to the question. A forger may have sent them.
    case unrelated
    /// The answer did not fit into a datagram.
    case truncated
    /// The server does not know EDNS (RFC 6891 §7).
    case rejectedOptions
    case failure(code: UInt16)
    case answer(ResolvedRecords)

    private enum Code {
        static let noError: UInt16 = 0
        static let formatError: UInt16 = 1
        static let nameError: UInt16 = 3
        static let notImplemented: UInt16 = 4
    }
    /// The limit of CNAME records that are followed. It prevents an endless loop.
    private static let aliasLimit = 8
    /// The longest time for which an answer is used, whatever its records say.
    private static let longestLifetime: UInt32 = 86_400
    /// The longest time for which an answer without records is used (RFC 2308 §5).
    private static let longestNegativeLifetime: UInt32 = 3600

    init(_ bytes: [UInt8], to query: Message, now: Instant) {
        guard let message = try? Message(decoding: bytes, expandsNames: true), message.id == query.id,
            message.flags.contains(.response), message.flags.operation == 0
        else {
            self = .unrelated
            return
        }
        let code = message.flags.responseCode
        let hasOptions = !query.additionals.isEmpty
        // A server that does not understand the query may return only the header.
        if hasOptions, [Code.formatError, Code.notImplemented].contains(code) {
            self = .rejectedOptions
            return
        }
        guard message.questions == query.questions else {
            self = message.questions.isEmpty && code != Code.noError ? .failure(code: code) : .unrelated
            return
        }
        if message.flags.contains(.truncated) {
            self = .truncated
        } else if code == Code.noError || code == Code.nameError {
            self = .answer(Self.resolved(message, nameExists: code == Code.noError, now: now))
        } else {
            self = .failure(code: code)
        }
    }

    private static func resolved(_ message: Message, nameExists: Bool, now: Instant) -> ResolvedRecords {
        let answers = message.answers.filter { $0.recordClass == .internet }
        guard var question = message.questions.first else {
            return ResolvedRecords(records: [], nameExists: nameExists, expires: now)
        }
        var lifetime = longestLifetime
        for _ in 0...aliasLimit {
            let records = answers.filter { question.isAnswered(by: $0) }
            if !records.isEmpty {
                lifetime = records.reduce(lifetime) { min($0, Self.lifetime($1)) }
                return ResolvedRecords(records: records, nameExists: true, expires: now + .seconds(Int64(lifetime)))
            }
            guard let alias = answers.first(where: { $0.name == question.name && $0.alias != nil }) else { break }
            lifetime = min(lifetime, Self.lifetime(alias))
            question.name = alias.alias ?? question.name
        }
        let negative = negativeLifetime(message)
        return ResolvedRecords(
            records: [], nameExists: nameExists, expires: now + .seconds(Int64(min(lifetime, negative))),
            zone: message.authorities.first { $0.type == .soa }?.name)
    }

    /// A number above 31 bits counts as 0 (RFC 2181 §8).
    private static func lifetime(_ record: Record) -> UInt32 {
        record.timeToLive > UInt32(Int32.max) ? 0 : record.timeToLive
    }

    /// The lifetime of an answer without records: the smaller of the time to live and the last field of the SOA record
    /// (RFC 2308 §5), or 0 without such a record.
    private static func negativeLifetime(_ message: Message) -> UInt32 {
        for record in message.authorities {
            // Two names of at least one byte, and five numbers of four bytes.
            guard case .other(.soa, let bytes) = record.data, bytes.count >= 22 else { continue }
            let minimum = bytes.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
            return min(lifetime(record), minimum, longestNegativeLifetime)
        }
        return 0
    }
}
