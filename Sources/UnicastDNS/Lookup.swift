import DNSWire
import MulticastDNS
import ProtocolCore

/// One question that waits for an answer, with its current exchange.
struct Lookup: Sendable {
    /// One query to one server.
    struct Exchange: Sendable {
        let id: ExchangeID
        let query: Message
        let transport: StubResolver.Transport
        let until: Instant
        /// The number of messages that were not the answer.
        var unrelated = 0
    }

    let question: Question
    /// The requests for the answer. Equal questions share one lookup.
    var askers: [QueryID]
    private(set) var exchange: Exchange?
    /// The number of servers that were tried, counting repetitions.
    private var attempts = 0
    /// True if a server did not understand EDNS.
    private var omitsOptions = false
    private var lastFailure: UInt16?

    /// The times to wait for an answer of a server, per round over all servers.
    private static let timeouts: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]
    /// The minimum time to wait over TCP, which needs additional round trips.
    private static let streamTimeout = Duration.seconds(3)
    /// The number of unrelated messages after which the query is repeated over TCP, because a forger may be guessing
    /// the identifier (RFC 5452 §9.2).
    private static let unrelatedLimit = 8

    init(_ question: Question, asker: QueryID) {
        self.question = question
        askers = [asker]
    }

    /// The step after a reply or a timeout.
    enum Step: Hashable {
        case wait
        /// Sends the query to the server at this index.
        case send(server: Int, StubResolver.Transport)
        case finish(Result<ResolvedRecords, ResolverError>)
    }

    /// Proceeds to the next server.
    mutating func next(servers: Int) -> Step {
        guard servers > 0 else { return .finish(.failure(.noServers)) }
        guard attempts < servers * Self.timeouts.count else {
            return .finish(.failure(lastFailure.map { .serverFailure(code: $0) } ?? .timeout))
        }
        attempts += 1
        omitsOptions = false
        return .send(server: (attempts - 1) % servers, .datagram)
    }

    /// Builds the query to the current server, and waits for the reply.
    mutating func send(
        _ id: ExchangeID, over transport: StubResolver.Transport, servers: Int, messageID: UInt16, now: Instant
    ) -> Message {
        let options = omitsOptions ? [] : [OptionsRecord(options: []).record]
        let query = Message(
            id: messageID, flags: .recursionDesired, questions: [question], additionals: options)
        let round = Self.timeouts[min((attempts - 1) / max(1, servers), Self.timeouts.count - 1)]
        let timeout = transport == .stream ? max(round, Self.streamTimeout) : round
        exchange = Exchange(id: id, query: query, transport: transport, until: now + timeout)
        return query
    }

    /// Handles bytes from the current server.
    mutating func receive(_ bytes: [UInt8], servers: Int, now: Instant) -> Step {
        guard let exchange else { return .wait }
        let server = (attempts - 1) % max(1, servers)
        switch Reply(bytes, to: exchange.query, now: now) {
        case .unrelated:
            self.exchange?.unrelated += 1
            guard exchange.unrelated + 1 >= Self.unrelatedLimit else { return .wait }
            return exchange.transport == .datagram ? .send(server: server, .stream) : next(servers: servers)
        case .truncated where exchange.transport == .datagram: return .send(server: server, .stream)
        case .truncated: return next(servers: servers)
        case .rejectedOptions:
            omitsOptions = true
            return .send(server: server, exchange.transport)
        case .failure(let code):
            lastFailure = code
            return next(servers: servers)
        case .answer(let answer): return .finish(.success(answer))
        }
    }
}
