import DNSWire
import ProtocolCore
import Testing

@testable import UnicastDNS

/// A session with long-lived queries and its server, in virtual time. A datagram takes 10 ms, or is lost.
private struct VirtualQueries {
    private enum Delivery {
        case toServer([UInt8])
        case toClient([UInt8])
    }

    private struct Query {
        let question: Question
        var isLive = false
        var expires = Instant.zero
        /// The events that the client has not acknowledged, by the identifiers of their messages.
        var events: [UInt16: [Record]] = [:]
    }

    private(set) var now = Instant.zero
    private(set) var session: LongLivedQueries
    private(set) var reported: [Question: [Record]] = [:]
    private(set) var rejected: [Question] = []
    private(set) var failure: PushFailure?
    private(set) var messages = 0
    /// The share of datagrams that are lost.
    var loss = 0.0
    /// The error and the lease of the response to a request for a query.
    var setup: (error: UInt16, lease: UInt32) = (0, 7200)
    private(set) var zone: [Record] = []
    private var queries: [UInt64: Query] = [:]
    private var lastID: UInt64 = 0
    private var lastMessage: UInt16 = 0
    private var deliveries: [(at: Instant, delivery: Delivery)] = []
    private var repeatsAt: Instant?
    private var random: SeededRandom

    init(seed: UInt64 = 1) {
        random = SeededRandom(seed: seed)
        session = LongLivedQueries(zone: "example.org", random: SeededRandom(seed: seed), now: .zero)
    }

    mutating func follow(_ question: Question) {
        session.follow(question, now: now)
        perform()
    }

    mutating func unfollow(_ question: Question) {
        session.unfollow(question, now: now)
        perform()
    }

    mutating func receive(_ message: Message) {
        guard let bytes = try? message.encoded() else { preconditionFailure("a message that is too long") }
        do throws(PushFailure) { try session.receive(bytes, now: now) } catch { failure = error }
        perform()
    }

    /// The server forgets its queries.
    mutating func restart() { queries = [:] }

    mutating func add(_ record: Record) {
        zone.append(record)
        notify([record])
    }

    mutating func remove(_ record: Record) {
        zone.removeAll { $0.hasSameContent(as: record) }
        var removal = record
        removal.timeToLive = .max
        notify([removal])
    }

    var queryCount: Int { queries.count }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while failure == nil {
            let next = sooner(sooner(deliveries.first?.at, session.nextDeadline), repeatsAt)
            guard let next, next <= end else { break }
            now = max(now, next)
            if let delivery = deliveries.first, delivery.at <= now {
                deliveries.removeFirst()
                switch delivery.delivery {
                case .toServer(let bytes): serve(bytes)
                case .toClient(let bytes):
                    do throws(PushFailure) { try session.receive(bytes, now: now) } catch { failure = error }
                    perform()
                }
            } else if let repeatsAt, repeatsAt <= now {
                self.repeatsAt = nil
                for (id, query) in queries.sorted(by: { $0.key < $1.key }) {
                    for (message, records) in query.events.sorted(by: { $0.key < $1.key }) {
                        send(records, message, id)
                    }
                }
            } else {
                do throws(PushFailure) { try session.runDueTimers(now: now) } catch { failure = error }
                perform()
            }
        }
        now = end
    }

    private mutating func perform() {
        for output in session.takeOutput() {
            switch output {
            case .send(let bytes):
                messages += 1
                if !random.chance(loss) { schedule(.toServer(bytes)) }
            case .updated(let question, let records): reported[question] = records
            case .rejected(let question): rejected.append(question)
            }
        }
    }

    private mutating func schedule(_ delivery: Delivery) { deliveries.append((now + .milliseconds(10), delivery)) }

    private mutating func notify(_ records: [Record]) {
        for (id, query) in queries.sorted(by: { $0.key < $1.key }) where query.isLive {
            let wanted = records.filter { query.question.isAnswered(by: $0) }
            guard !wanted.isEmpty else { continue }
            lastMessage += 1
            queries[id]?.events[lastMessage] = wanted
            send(wanted, lastMessage, id)
        }
    }

    private mutating func send(_ records: [Record], _ message: UInt16, _ id: UInt64) {
        guard let question = queries[id]?.question else { return }
        let option = LongLivedQueryOption(.event, id: id, lease: 0)
        reply(
            Message(
                id: message, flags: .response, questions: [question], answers: records, additionals: [option.record]))
        repeatsAt = repeatsAt ?? now + .seconds(2)
    }

    private mutating func reply(_ message: Message) {
        guard let bytes = try? message.encoded() else { preconditionFailure("a message that is too long") }
        if !random.chance(loss) { schedule(.toClient(bytes)) }
    }

    private mutating func serve(_ bytes: [UInt8]) {
        guard let message = try? Message(decoding: bytes), let option = LongLivedQueryOption(message),
            let question = message.questions.first
        else { preconditionFailure("a malformed message") }
        func response(_ operation: LongLivedQueryOption.Operation, _ id: UInt64, error: UInt16 = 0, lease: UInt32)
            -> Message
        {
            var answer = LongLivedQueryOption(operation, id: id, lease: lease)
            answer.error = error
            return Message(id: message.id, flags: .response, questions: [question], additionals: [answer.record])
        }
        switch option.operation {
        case .setup where option.id == 0:
            guard setup.error == 0 else { return reply(response(.setup, 0, error: setup.error, lease: setup.lease)) }
            lastID += 1
            queries[lastID] = Query(question: question)
            reply(response(.setup, lastID, lease: setup.lease))
        case .setup:
            var answer = response(.setup, option.id, lease: setup.lease)
            guard queries[option.id]?.question == question else { return }
            queries[option.id]?.isLive = true
            answer.answers = zone.filter { question.isAnswered(by: $0) }
            reply(answer)
        case .refresh where option.lease == 0: queries[option.id] = nil
        case .refresh:
            let known = queries[option.id] != nil
            reply(response(.refresh, option.id, error: known ? 0 : 4, lease: setup.lease))
        case .event: queries[option.id]?.events[message.id] = nil
        }
    }
}

@Suite struct LongLivedQueriesTests {
    private static let list = Question(name: "_smartplug._tcp.example.org", type: .ptr)

    private static func plug(_ number: Int) -> Record {
        let instance = try! Name(presentation: "Lamp\(number)._smartplug._tcp.example.org")
        return Record(name: list.name, timeToLive: 3600, data: .ptr(instance))
    }

    @Test("A query is set up in four messages, and each event is acknowledged") func events() {
        var world = VirtualQueries()
        world.add(Self.plug(1))
        world.follow(Self.list)
        world.run(for: .seconds(1))
        #expect(world.reported[Self.list]?.map(\.data) == [Self.plug(1).data])
        #expect(world.messages == 2 && world.session.liveQuestions == [Self.list])
        world.add(Self.plug(2))
        world.remove(Self.plug(1))
        world.run(for: .seconds(1))
        #expect(world.reported[Self.list]?.map(\.data) == [Self.plug(2).data])
        #expect(world.messages == 4)
        world.unfollow(Self.list)
        world.run(for: .seconds(1))
        #expect(world.queryCount == 0 && world.session.nextDeadline == nil)
    }

    @Test("A query is refreshed before it expires, and set up again if the server has restarted") func refresh() {
        var world = VirtualQueries()
        world.add(Self.plug(1))
        world.follow(Self.list)
        world.run(for: .seconds(86_500))
        #expect(world.failure == nil && world.messages == 2 + 86_400 / 5760)
        world.restart()
        world.add(Self.plug(2))
        world.run(for: .seconds(5760))
        #expect(world.reported[Self.list]?.count == 2 && world.failure == nil)
    }

    @Test("Under heavy loss the reported records follow the zone, or the session ends", arguments: 0..<40)
    func loss(seed: UInt64) {
        var world = VirtualQueries(seed: seed)
        var random = SeededRandom(seed: seed)
        world.loss = 0.3
        world.follow(Self.list)
        for _ in 0..<50 {
            let record = Self.plug(Int.random(in: 0..<5, using: &random))
            if world.zone.contains(where: { $0.hasSameContent(as: record) }) {
                world.remove(record)
            } else {
                world.add(record)
            }
            // A server sends the next event after the acknowledgement of the previous one (RFC 8764 §6.1).
            world.run(for: .seconds(60))
        }
        if world.failure != nil {
            #expect(world.failure == .noAnswer)
        } else {
            #expect(Set(world.reported[Self.list]?.map(\.data) ?? []) == Set(world.zone.map(\.data)))
        }
    }

    @Test("A server without an answer, a full server and a static question have different effects") func refusals() {
        var silent = VirtualQueries()
        silent.loss = 1
        silent.follow(Self.list)
        silent.run(for: .seconds(60))
        #expect(silent.failure == .noAnswer && silent.messages == 3)
        var full = VirtualQueries()
        full.setup = (1, 600)
        full.follow(Self.list)
        full.run(for: .seconds(1))
        #expect(full.failure == .busy(.seconds(600)))
        var fixed = VirtualQueries()
        fixed.setup = (2, 600)
        fixed.follow(Self.list)
        fixed.run(for: .seconds(1))
        #expect(fixed.failure == nil && fixed.rejected == [Self.list] && fixed.session.nextDeadline == nil)
        var broken = VirtualQueries()
        broken.setup = (6, 0)
        broken.follow(Self.list)
        broken.run(for: .seconds(1))
        #expect(broken.failure == .rejected(code: 6))
    }

    @Test("Forged datagrams have no effect") func forgeries() {
        var world = VirtualQueries()
        world.follow(Self.list)
        world.run(for: .seconds(1))
        for id in [0, 2, UInt64.max] {
            let option = LongLivedQueryOption(.event, id: id, lease: 7200)
            world.receive(
                Message(
                    id: 7, flags: .response, questions: [Self.list], answers: [Self.plug(9)],
                    additionals: [option.record]))
        }
        // A record that does not answer the question.
        let option = LongLivedQueryOption(.event, id: 1, lease: 7200)
        world.receive(
            Message(
                id: 8, flags: .response, questions: [Self.list],
                answers: [Record(name: "a.example.org", timeToLive: 60, data: .ptr("b.example.org"))],
                additionals: [option.record]))
        #expect(world.reported[Self.list] == [] && world.failure == nil)
    }

    @Test("A question with more records than the limit is left to the resolver") func recordLimit() {
        var world = VirtualQueries()
        world.follow(Self.list)
        world.run(for: .seconds(1))
        for number in 0..<PushSession.recordLimit { world.add(Self.plug(number)) }
        world.run(for: .seconds(60))
        #expect(world.reported[Self.list]?.count == PushSession.recordLimit && world.rejected.isEmpty)
        world.add(Self.plug(PushSession.recordLimit))
        world.run(for: .seconds(60))
        #expect(world.rejected == [Self.list] && world.queryCount == 0 && world.failure == nil)
    }

    @Test("The number of queries is limited, and a further one takes the place of one that ends") func limit() {
        var world = VirtualQueries()
        let questions = (0...LongLivedQueries.queryLimit).compactMap { number in
            (try? Name(presentation: "h\(number).example.org")).map { Question(name: $0, type: .a) }
        }
        for question in questions { world.follow(question) }
        world.run(for: .seconds(1))
        #expect(world.queryCount == LongLivedQueries.queryLimit && world.reported[questions.last!] == nil)
        world.unfollow(questions[0])
        world.run(for: .seconds(1))
        #expect(world.queryCount == LongLivedQueries.queryLimit && world.reported[questions.last!] != nil)
        world.follow(Question(name: "a.example.net", type: .a))
        #expect(world.messages == 2 * questions.count + 1, "a question of a different zone is ignored")
    }
}
