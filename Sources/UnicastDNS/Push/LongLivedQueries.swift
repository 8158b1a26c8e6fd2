import DNSWire
import ProtocolCore

/// Long-lived queries at one server (RFC 8764), over one UDP socket: sets up a query for each question, acknowledges
/// events, and refreshes the queries before they expire.
///
/// Datagrams that do not belong to a query are ignored, because any host can send them. A forged event needs the number
/// that the server gave to the query, and the port of the socket.
struct LongLivedQueries: LiveSession {
    private struct Query {
        enum Phase: Hashable {
            /// The request waits for the challenge, in which the server proves that it can be reached.
            case requested
            /// The answer to the challenge waits for the first records.
            case challenged(UInt64)
            case live(UInt64)
            case refreshing(UInt64)
        }

        var phase = Phase.requested
        /// The identifier of the last request.
        var message: UInt16
        /// The number of times that the request was sent.
        var attempts = 1
        /// The time at which the request is repeated, or the query is refreshed.
        var due: Instant
        var records = PushedRecords()

        var id: UInt64 {
            switch phase {
            case .requested: 0
            case .challenged(let id), .live(let id), .refreshing(let id): id
            }
        }

        var isLive: Bool {
            switch phase {
            case .live, .refreshing: true
            case .requested, .challenged: false
            }
        }
    }

    /// The limit of queries. A browser polls its further questions.
    static let queryLimit = 64
    /// The lifetime that the client requests, in seconds. It is short, because a router that translates addresses may
    /// forget the socket, and the loss of events is noticed only by the next refresh.
    static let requestedLease: UInt32 = 900
    /// The accepted lifetimes. A shorter one would cause needless traffic.
    private static let leases: ClosedRange<UInt32> = 120...86_400
    /// The times to wait for responses to the same request.
    private static let timeouts: [Duration] = [.seconds(2), .seconds(4), .seconds(8)]

    let start: Instant
    private let zone: Name
    private var random: any RandomNumberGenerator & Sendable
    private var queries: [Question: Query] = [:]
    /// The followed questions above the limit.
    private var waiting: [Question] = []
    private var rejected: Set<Question> = []
    private var bucket = TokenBucket(burst: PushSession.messageBurst, interval: .seconds(1) / PushSession.messageRate)
    private var output: [LiveOutput] = []

    init(zone: Name, random: any RandomNumberGenerator & Sendable, now: Instant) {
        self.zone = zone
        self.random = random
        start = now
    }

    var liveQuestions: [Question] { queries.filter { $0.value.isLive }.map(\.key) }

    var nextDeadline: Instant? { queries.values.lazy.map(\.due).min() }

    mutating func takeOutput() -> [LiveOutput] {
        defer { output = [] }
        return output
    }

    mutating func follow(_ question: Question, now: Instant) {
        guard question.name.isInside(zone), !rejected.contains(question) else { return }
        if let query = queries[question] {
            if query.isLive { output.append(.updated(question, query.records.all)) }
        } else if queries.count < Self.queryLimit {
            setUp(question, now: now)
        } else if !waiting.contains(question) {
            waiting.append(question)
        }
    }

    mutating func unfollow(_ question: Question, now: Instant) {
        rejected.remove(question)
        waiting.removeAll { $0 == question }
        end(question, now: now)
    }

    mutating func receive(_ bytes: [UInt8], now: Instant) throws(PushFailure) {
        guard bucket.take(1 + bytes.count >> 10, now: now) else { throw .flood }
        guard let message = try? Message(decoding: bytes, expandsNames: true), message.flags.contains(.response),
            let option = LongLivedQueryOption(message), let question = message.questions.first,
            let query = queries[question]
        else { return }
        switch (option.operation, query.phase) {
        case (.setup, .requested) where message.id == query.message && option.error == 0 && option.id != 0:
            request(question, .challenged(option.id), .setup, lease: option.lease, now: now)
        case (.setup, .challenged(option.id)) where message.id == query.message && option.error == 0:
            established(question, message, option, now: now)
        case (.setup, .requested), (.setup, .challenged):
            if message.id == query.message { try failed(question, option, now: now) }
        case (.refresh, .refreshing(option.id)) where message.id == query.message:
            if option.error == 0 {
                settle(question, lease: option.lease, now: now)
            } else if option.error == LongLivedQueryOption.Fault.noSuchQuery {
                // The server has restarted.
                setUp(question, keeping: query.records, now: now)
            } else {
                try failed(question, option, now: now)
            }
        case (.event, .live(option.id)), (.event, .refreshing(option.id)):
            send(question, .event, option.id, lease: option.lease, as: message.id, flags: .response)
            apply(message.answers, to: question, now: now)
        case (.setup, _), (.refresh, _), (.event, _): break
        }
    }

    mutating func runDueTimers(now: Instant) throws(PushFailure) {
        for question in queries.filter({ $0.value.due <= now }).map(\.key).ordered {
            guard let query = queries[question] else { continue }
            if case .live(let id) = query.phase {
                request(question, .refreshing(id), .refresh, lease: Self.requestedLease, now: now)
            } else if query.attempts < Self.timeouts.count {
                queries[question]?.attempts += 1
                queries[question]?.due = now + Self.timeouts[query.attempts]
                let operation: LongLivedQueryOption.Operation =
                    if case .refreshing = query.phase { .refresh } else { .setup }
                send(question, operation, query.id, lease: Self.requestedLease, as: query.message)
            } else {
                throw .noAnswer
            }
        }
    }

    /// Requests a new query. Until its first records arrive, the known ones are kept.
    private mutating func setUp(_ question: Question, keeping records: PushedRecords = PushedRecords(), now: Instant) {
        queries[question] = Query(message: 0, due: now, records: records)
        request(question, .requested, .setup, lease: Self.requestedLease, now: now)
    }

    private mutating func request(
        _ question: Question, _ phase: Query.Phase, _ operation: LongLivedQueryOption.Operation, lease: UInt32,
        now: Instant
    ) {
        guard var query = queries[question] else { return }
        query.phase = phase
        query.message = random.next()
        query.attempts = 1
        query.due = now + Self.timeouts[0]
        queries[question] = query
        send(question, operation, query.id, lease: lease, as: query.message)
    }

    private mutating func send(
        _ question: Question, _ operation: LongLivedQueryOption.Operation, _ id: UInt64, lease: UInt32,
        as message: UInt16, flags: MessageFlags = []
    ) {
        let option = LongLivedQueryOption(operation, id: id, lease: lease)
        let message = Message(id: message, flags: flags, questions: [question], additionals: [option.record])
        // A question with a name of the longest size fits into the smallest message.
        if let bytes = try? message.encoded() { output.append(.send(bytes)) }
    }

    /// Handles the first records.
    private mutating func established(
        _ question: Question, _ message: Message, _ option: LongLivedQueryOption, now: Instant
    ) {
        // More records than a datagram has room for are left to the resolver.
        guard !message.flags.contains(.truncated) else { return reject(question, now: now) }
        queries[question]?.records = PushedRecords()
        settle(question, lease: option.lease, now: now)
        apply(message.answers, to: question, now: now)
    }

    /// The query is live until four fifths of its lifetime have passed (RFC 8764 §5.1).
    private mutating func settle(_ question: Question, lease: UInt32, now: Instant) {
        guard var query = queries[question] else { return }
        let seconds = min(max(lease, Self.leases.lowerBound), Self.leases.upperBound)
        query.phase = .live(query.id)
        query.due = now + Duration.seconds(Int64(seconds) * 4 / 5)
        queries[question] = query
    }

    /// Applies the records of an event, and reports the result.
    private mutating func apply(_ changes: [Record], to question: Question, now: Instant) {
        guard var records = queries[question]?.records else { return }
        for change in changes where question.isAnswered(by: change) {
            // A removed record has the time to live -1 (RFC 8764 §6.2).
            if change.timeToLive == .max {
                _ = records.remove(change.data)
            } else {
                _ = records.insert(change)
            }
        }
        queries[question]?.records = records
        let byteCount = queries.values.reduce(0) { $0 + $1.records.byteCount }
        guard records.count <= PushSession.recordLimit, byteCount <= PushSession.byteLimit else {
            return reject(question, now: now)
        }
        output.append(.updated(question, records.all))
    }

    private mutating func failed(
        _ question: Question, _ option: LongLivedQueryOption, now: Instant
    ) throws(PushFailure) {
        switch option.error {
        case LongLivedQueryOption.Fault.serverFull: throw .busy(.seconds(Int64(option.lease)))
        case LongLivedQueryOption.Fault.isStatic: reject(question, now: now)
        case let code: throw .rejected(code: code)
        }
    }

    /// Leaves a question to the resolver.
    private mutating func reject(_ question: Question, now: Instant) {
        rejected.insert(question)
        output.append(.rejected(question))
        end(question, now: now)
    }

    /// Ends a query, and sets up queries for the waiting questions.
    private mutating func end(_ question: Question, now: Instant) {
        guard let query = queries.removeValue(forKey: question) else { return }
        let message: UInt16 = random.next()
        if query.id != 0 { send(question, .refresh, query.id, lease: 0, as: message) }
        while queries.count < Self.queryLimit, !waiting.isEmpty { setUp(waiting.removeFirst(), now: now) }
    }
}
