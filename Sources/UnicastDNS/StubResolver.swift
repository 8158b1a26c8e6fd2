public import DNSWire
public import MulticastDNS
public import ProtocolCore

/// Identifies a question between the resolver and its owner, who chooses the number.
public struct QueryID: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt64
    /// Creates an id from its number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Identifies one query to one server. The shell opens a new socket for each one.
public struct ExchangeID: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt64
    /// Creates an id from its number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A stub resolver (RFC 1123 §6.1.3.1): it asks the name servers of a network by UDP with EDNS0 (RFC 6891), and by TCP
/// (RFC 7766) after a truncated answer, repeats a question that has no answer, and keeps answers until they expire.
///
/// An off-path attacker must guess the identifier of a query and the port of its socket (RFC 5452), so each exchange has
/// a new random identifier, and the shell opens a new socket, connected to the server, for each one.
public struct StubResolver: Machine, Sendable {
    /// The protocol of an exchange.
    public enum Transport: Hashable, Sendable {
        /// UDP.
        case datagram
        /// TCP. The shell adds and removes the length before the message.
        case stream
    }

    /// The inputs of the machine.
    public enum Event: MachineEvent, Hashable, Sendable {
        /// The servers changed. Open questions are asked again, and kept answers are forgotten: a different network
        /// may have different names.
        case configured(ResolverConfiguration)
        /// The owner has a question.
        case ask(QueryID, Question)
        /// The owner no longer needs the answer.
        case cancel(QueryID)
        /// A whole message arrived.
        case received(ExchangeID, [UInt8])
        /// The socket failed: the server refused the connection, or is not reachable.
        case failed(ExchangeID)
        /// The time of ``StubResolver/nextDeadline`` was reached.
        case deadlineReached
    }

    /// The outputs of the machine, performed in order.
    public enum Action: Hashable, Sendable {
        /// Opens a socket, and sends a message to the server.
        case send(ExchangeID, [UInt8], to: Peer, Transport)
        /// Closes the socket.
        case close(ExchangeID)
        /// The answer to a question, which ends it.
        case answer(QueryID, Result<ResolvedRecords, ResolverError>)
    }

    /// The limit of different questions that wait for answers.
    public static let lookupLimit = 256

    private var configuration = ResolverConfiguration()
    private var lookups: [Lookup] = []
    private var cache = AnswerCache()
    private var nextExchange: UInt64 = 0
    private var random: any RandomNumberGenerator & Sendable
    private var output: [Action] = []

    /// Creates a resolver without servers.
    ///
    /// - Parameter random: the source of identifiers. Outside of tests it must be unpredictable.
    public init(random: any RandomNumberGenerator & Sendable) { self.random = random }

    /// The time of the next ``Event/deadlineReached``, or nil.
    public var nextDeadline: Instant? { lookups.lazy.compactMap { $0.exchange?.until }.min() }

    /// Handles an event at the time `now` and returns the actions to perform.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .configured(let configuration): configure(configuration, now: now)
        case .ask(let id, let question): ask(id, question, now: now)
        case .cancel(let id): cancel(id)
        case .received(let id, let bytes):
            if let index = index(of: id) {
                let step = lookups[index].receive(bytes, servers: configuration.servers.count, now: now)
                perform(step, at: index, now: now)
            }
        case .failed(let id): if let index = index(of: id) { proceed(at: index, now: now) }
        case .deadlineReached: break
        }
        while let index = lookups.firstIndex(where: { $0.exchange.map { $0.until <= now } ?? false }) {
            proceed(at: index, now: now)
        }
        defer { output = [] }
        return output
    }

    private func index(of id: ExchangeID) -> Int? { lookups.firstIndex { $0.exchange?.id == id } }

    private mutating func configure(_ configuration: ResolverConfiguration, now: Instant) {
        guard configuration != self.configuration else { return }
        self.configuration = configuration
        cache.removeAll()
        let open = lookups
        lookups = []
        for lookup in open {
            if let exchange = lookup.exchange { output.append(.close(exchange.id)) }
            for id in lookup.askers { ask(id, lookup.question, now: now) }
        }
    }

    private mutating func ask(_ id: QueryID, _ question: Question, now: Instant) {
        if let answer = cache.answer(to: question, now: now) { return output.append(.answer(id, .success(answer))) }
        if let index = lookups.firstIndex(where: { $0.question == question }) {
            return lookups[index].askers.append(id)
        }
        guard lookups.count < Self.lookupLimit else {
            return output.append(.answer(id, .failure(.tooManyQuestions)))
        }
        lookups.append(Lookup(question, asker: id))
        proceed(at: lookups.count - 1, now: now)
    }

    private mutating func cancel(_ id: QueryID) {
        guard let index = lookups.firstIndex(where: { $0.askers.contains(id) }) else { return }
        lookups[index].askers.removeAll { $0 == id }
        guard lookups[index].askers.isEmpty else { return }
        if let exchange = lookups.remove(at: index).exchange { output.append(.close(exchange.id)) }
    }

    /// The current server does not answer.
    private mutating func proceed(at index: Int, now: Instant) {
        perform(lookups[index].next(servers: configuration.servers.count), at: index, now: now)
    }

    private mutating func perform(_ step: Lookup.Step, at index: Int, now: Instant) {
        if step == .wait { return }
        if let exchange = lookups[index].exchange { output.append(.close(exchange.id)) }
        switch step {
        case .wait: break
        case .send(let server, let transport): send(to: configuration.servers[server], transport, at: index, now: now)
        case .finish(let result):
            let lookup = lookups.remove(at: index)
            if case .success(let answer) = result { cache.insert(answer, to: lookup.question, now: now) }
            for id in lookup.askers { output.append(.answer(id, result)) }
        }
    }

    private mutating func send(to server: Peer, _ transport: Transport, at index: Int, now: Instant) {
        let id = ExchangeID(rawValue: nextExchange)
        nextExchange += 1
        let query = lookups[index].send(
            id, over: transport, servers: configuration.servers.count, messageID: random.next(), now: now)
        // A question with a name of the longest size fits into the smallest message.
        guard let bytes = try? query.encoded() else { return }
        output.append(.send(id, bytes, to: server, transport))
    }
}
