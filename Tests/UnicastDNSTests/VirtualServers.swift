import DNSWire
import MulticastDNS
import ProtocolCore

@testable import UnicastDNS

let home = Peer(address: .v4(10, 0, 0, 1), port: 53)
let spare = Peer(address: .v4(10, 0, 0, 2), port: 53)

/// A resolver and its name servers in virtual time. A server answers after 10 ms, or not at all.
struct VirtualServers {
    /// A query that a server received.
    struct Query {
        let server: Peer
        let transport: StubResolver.Transport
        let message: Message
        let at: Instant
    }

    private struct Delivery {
        let at: Instant
        let event: StubResolver.Event
    }

    private(set) var now = Instant.zero
    private(set) var queries: [Query] = []
    private(set) var answers: [QueryID: Result<ResolvedRecords, ResolverError>] = [:]
    /// The exchanges whose sockets are open.
    private(set) var open: Set<ExchangeID> = []
    private var resolver: StubResolver
    private var deliveries: [Delivery] = []
    private let delay = Duration.milliseconds(10)
    /// Returns the messages that a server sends.
    private let serve: (Query) -> [Message]

    init(_ servers: [Peer] = [home, spare], seed: UInt64 = 1, serve: @escaping (Query) -> [Message]) {
        resolver = StubResolver(random: SeededRandom(seed: seed))
        self.serve = serve
        handle(.configured(ResolverConfiguration(servers: servers)))
    }

    mutating func handle(_ event: StubResolver.Event) {
        for action in resolver.handle(event, now: now) {
            switch action {
            case .send(let id, let bytes, let server, let transport):
                precondition(open.insert(id).inserted, "an exchange has one query")
                guard let message = try? Message(decoding: bytes) else { preconditionFailure("a malformed query") }
                let query = Query(server: server, transport: transport, message: message, at: now)
                queries.append(query)
                for answer in serve(query) {
                    guard let bytes = try? answer.encoded() else { preconditionFailure("an answer that is too long") }
                    deliveries.append(Delivery(at: now + delay, event: .received(id, bytes)))
                }
            case .close(let id): precondition(open.remove(id) != nil, "a socket is closed once")
            case .answer(let id, let result):
                precondition(answers[id] == nil, "a question has one answer")
                answers[id] = result
            }
        }
    }

    mutating func ask(_ id: UInt64, _ name: Name, _ type: RecordType = .srv) {
        handle(.ask(QueryID(rawValue: id), Question(name: name, type: type)))
    }

    /// Lets the time pass until no event is left, or until the end.
    mutating func run(for duration: Duration = .seconds(60)) {
        let end = now + duration
        while true {
            let arrival = deliveries.map(\.at).min()
            guard let next = sooner(arrival, resolver.nextDeadline), next <= end else { break }
            now = max(now, next)
            if let index = deliveries.firstIndex(where: { $0.at <= now }) {
                handle(deliveries.remove(at: index).event)
            } else {
                handle(.deadlineReached)
            }
        }
        now = end
    }

    func records(_ id: UInt64) -> [Record]? { try? answers[QueryID(rawValue: id)]?.get().records }

    func failure(_ id: UInt64) -> ResolverError? {
        if case .failure(let error) = answers[QueryID(rawValue: id)] { error } else { nil }
    }
}

extension Message {
    /// A response to this query.
    func response(
        _ answers: [Record] = [], authorities: [Record] = [], code: UInt16 = 0, flags: MessageFlags = []
    ) -> Message {
        Message(
            id: id, flags: MessageFlags(rawValue: MessageFlags.response.rawValue | flags.rawValue | code),
            questions: questions, answers: answers, authorities: authorities)
    }
}
