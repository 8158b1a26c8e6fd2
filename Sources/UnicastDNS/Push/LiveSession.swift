import DNSWire
import ProtocolCore

/// A session with a server that reports the changes of records.
protocol LiveSession: Sendable {
    /// The time at which the session began.
    var start: Instant { get }
    /// The questions that the session answers.
    var liveQuestions: [Question] { get }
    /// The time of the next ``runDueTimers(now:)``.
    var nextDeadline: Instant? { get }
    /// Returns the outputs since the last call.
    mutating func takeOutput() -> [LiveOutput]
    /// Requests the records of a question, and their changes. If the session answers it already, its records are reported
    /// again.
    mutating func follow(_ question: Question, now: Instant)
    /// Ends the interest in a question.
    mutating func unfollow(_ question: Question, now: Instant)
    /// Handles a whole message of the server. After an error the session has ended.
    mutating func receive(_ bytes: [UInt8], now: Instant) throws(PushFailure)
    /// Performs the work that is due. After an error the session has ended.
    mutating func runDueTimers(now: Instant) throws(PushFailure)
}

/// The outputs of a ``LiveSession``, performed in order.
enum LiveOutput: Hashable {
    case send([UInt8])
    /// All records that answer the question.
    case updated(Question, [Record])
    /// The server does not answer this question, or it has too many records.
    case rejected(Question)
}

/// The protocols by which a server reports changes, in the order in which they are tried.
enum LiveProtocol: Hashable, CaseIterable {
    /// DNS Push Notifications (RFC 8765).
    case push
    /// Long-lived queries (RFC 8764).
    case longLivedQueries

    /// The labels of the service type by which a zone names its server.
    var service: [[UInt8]] {
        let labels = self == .push ? ["_dns-push-tls", "_tcp"] : ["_dns-llq", "_udp"]
        return labels.map { Array($0.utf8) }
    }

    /// The protocol below.
    var transport: PushClient.Transport { self == .push ? .tls : .datagram }
}
