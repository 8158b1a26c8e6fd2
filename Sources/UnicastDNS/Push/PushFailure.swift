public import DNSWire

/// The reasons why a domain has no live updates.
public enum PushFailure: Error, Hashable, Sendable {
    /// The zone of the domain cannot be found.
    case noZone
    /// The zone names no push server.
    case notOffered
    /// A question about the push server has no answer.
    case resolver(ResolverError)
    /// No address of the push servers accepts a connection.
    case unreachable
    /// The connection was closed.
    case closed
    /// The server did not answer within ``PushSession/answerTimeout``.
    case noAnswer
    /// The server rejected the session, or every subscription, with this RCODE.
    case rejected(code: UInt16)
    /// Every question has more records than the limits permit.
    case tooManyRecords
    /// The server requested this pause.
    case busy(Duration)
    /// The server sent a message that is not valid.
    case malformed(WireError)
    /// The server sent a message that the protocol does not permit.
    case unexpectedMessage
    /// The server sent more data than ``PushSession/messageRate`` permits.
    case flood
}

extension PushFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noZone: "the zone was not found"
        case .notOffered: "the zone names no push server"
        case .resolver(let error): "the push server was not found: \(error)"
        case .unreachable: "the push server is not reachable"
        case .closed: "the push server closed the connection"
        case .noAnswer: "the push server did not answer"
        case .rejected(let code): "the push server rejected the request (code \(code))"
        case .tooManyRecords: "the zone has too many records"
        case .busy(let pause): "the push server requested a pause of \(pause)"
        case .malformed(let error): "the push server sent a malformed message (\(error))"
        case .unexpectedMessage: "the push server sent an unexpected message"
        case .flood: "the push server sent too many messages"
        }
    }
}
