import DNSWire
import MulticastDNS
import ProtocolCore
import Testing

@testable import UnicastDNS

@Suite struct StubResolverTests {
    private static let lamp: Name = "Lamp._smartplug._tcp.example.org"
    private static let host: Name = "plug.example.org"
    private static let service = Record(
        name: lamp, timeToLive: 60, data: .srv(priority: 0, weight: 0, port: 7777, target: host))
    /// An SOA record with two root names, four zero numbers, and 30 seconds as the last number.
    private static let authority = Record(
        name: "example.org", timeToLive: 600, data: .other(.soa, [0, 0] + [UInt8](repeating: 0, count: 19) + [30]))

    private static func alias(_ name: Name, to target: Name, timeToLive: UInt32 = 60) -> Record {
        Record(name: name, timeToLive: timeToLive, data: .other(.cname, target.bytes))
    }

    @Test("A query has EDNS and asks for recursion, and its answer is kept until it expires")
    func answerIsKept() throws {
        var servers = VirtualServers { [$0.message.response([Self.service])] }
        servers.ask(1, Self.lamp)
        servers.run(for: .seconds(59))
        servers.ask(2, Self.lamp)
        #expect(servers.records(1) == [Self.service] && servers.records(2) == [Self.service])
        #expect(servers.queries.count == 1 && servers.open.isEmpty)
        let query = try #require(servers.queries.first)
        #expect(query.message.flags == .recursionDesired && query.server == home && query.transport == .datagram)
        #expect(try query.message.optionsRecord()?.payloadSize == OptionsRecord.usualPayloadSize)
        servers.run(for: .seconds(2))
        servers.ask(3, Self.lamp)
        servers.run()
        #expect(servers.queries.count == 2 && servers.records(3) == [Self.service])
    }

    @Test("Equal questions share one query, also in different case") func equalQuestions() {
        var servers = VirtualServers { [$0.message.response([Self.service])] }
        servers.ask(1, Self.lamp)
        servers.ask(2, "lamp._SMARTPLUG._tcp.example.ORG")
        servers.handle(.cancel(QueryID(rawValue: 1)))
        servers.run()
        #expect(servers.records(1) == nil && servers.records(2) == [Self.service] && servers.queries.count == 1)
    }

    @Test("A question whose last request is cancelled is dropped") func cancelledQuestion() {
        var servers = VirtualServers { [$0.message.response([Self.service])] }
        servers.ask(1, Self.lamp)
        servers.handle(.cancel(QueryID(rawValue: 1)))
        #expect(servers.open.isEmpty)
        servers.run()
        #expect(servers.answers.isEmpty)
    }

    @Test("Silent servers are asked in turn, with growing intervals") func silentServers() {
        var servers = VirtualServers { _ in [] }
        servers.ask(1, Self.lamp)
        servers.run()
        #expect(servers.failure(1) == .timeout && servers.open.isEmpty)
        #expect(servers.queries.map(\.server) == [home, spare, home, spare, home, spare])
        let times = servers.queries.map { $0.at - Instant.zero }
        #expect(times == [0, 1, 2, 4, 6, 10].map { Duration.seconds($0) })
        #expect(Set(servers.queries.map(\.message.id)).count == 6)
    }

    @Test("After an error, the next server is asked at once") func failingServer() {
        var servers = VirtualServers {
            [$0.server == home ? $0.message.response(code: 2) : $0.message.response([Self.service])]
        }
        servers.ask(1, Self.lamp)
        servers.run(for: .milliseconds(50))
        #expect(servers.records(1) == [Self.service])
        var broken = VirtualServers { [$0.message.response(code: 5)] }
        broken.ask(1, Self.lamp)
        broken.run(for: .seconds(1))
        #expect(broken.failure(1) == .serverFailure(code: 5) && broken.queries.count == 6)
    }

    @Test("A truncated answer is requested by TCP") func truncatedAnswer() {
        var servers = VirtualServers { query in
            query.transport == .datagram
                ? [query.message.response(flags: .truncated)] : [query.message.response([Self.service])]
        }
        servers.ask(1, Self.lamp)
        servers.run()
        #expect(servers.records(1) == [Self.service])
        #expect(servers.queries.map(\.transport) == [.datagram, .stream] && servers.open.isEmpty)
        #expect(servers.queries.map(\.server) == [home, home])
    }

    @Test("A server without EDNS is asked again without options", arguments: [UInt16(1), 4])
    func serverWithoutOptions(_ code: UInt16) {
        var servers = VirtualServers { query in
            guard query.message.additionals.isEmpty else {
                // Such a server may return only the header.
                return [Message(id: query.message.id, flags: MessageFlags(rawValue: 0x8000 | code))]
            }
            return [query.message.response([Self.service])]
        }
        servers.ask(1, Self.lamp)
        servers.run()
        #expect(servers.records(1) == [Self.service] && servers.queries.count == 2)
    }

    @Test("A server that rejects every query ends the lookup", arguments: [UInt16(1), 4])
    func serverThatRejectsAll(_ code: UInt16) {
        var servers = VirtualServers([home]) { [$0.message.response(code: code)] }
        servers.ask(1, Self.lamp)
        servers.run(for: .seconds(1))
        #expect(servers.failure(1) == .serverFailure(code: code) && servers.queries.count == 6)
    }

    @Test("Aliases are followed, but not endlessly") func aliases() {
        let (first, second): (Name, Name) = ("a.example.org", "b.example.org")
        var servers = VirtualServers { query in
            query.message.questions[0].name == first
                ? [
                    query.message.response([
                        Self.alias(first, to: second, timeToLive: 5), Self.alias(second, to: Self.lamp), Self.service,
                    ])
                ] : [query.message.response([Self.alias(Self.host, to: second), Self.alias(second, to: Self.host)])]
        }
        servers.ask(1, first)
        servers.ask(2, Self.host)
        servers.run(for: .seconds(1))
        #expect(servers.records(1) == [Self.service] && servers.records(2) == [])
        servers.run(for: .seconds(5))
        servers.ask(3, first)
        servers.run()
        #expect(servers.queries.count == 3, "the lifetime is that of the first alias")
    }

    @Test("The proof that a name or a type does not exist is kept for the time in the SOA record")
    func negativeAnswers() {
        var servers = VirtualServers {
            [$0.message.response(authorities: [Self.authority], code: $0.message.questions[0].type == .srv ? 3 : 0)]
        }
        servers.ask(1, Self.lamp, .srv)
        servers.ask(2, Self.lamp, .txt)
        servers.run(for: .seconds(29))
        servers.ask(3, Self.lamp, .srv)
        #expect(servers.records(1) == [] && servers.records(2) == [] && servers.records(3) == [])
        #expect((try? servers.answers[QueryID(rawValue: 1)]?.get().nameExists) == false)
        #expect((try? servers.answers[QueryID(rawValue: 2)]?.get().nameExists) == true)
        #expect(servers.queries.count == 2)
        servers.run(for: .seconds(2))
        servers.ask(4, Self.lamp, .srv)
        servers.run()
        #expect(servers.queries.count == 3)
    }

    @Test("Answers with a wrong identifier or question are ignored, and many such answers cause a change to TCP")
    func forgedAnswers() {
        let forged = Record(name: Self.lamp, timeToLive: 600, data: .txt([1, 0x66]))
        func forgeries(_ query: Message, _ count: Int) -> [Message] {
            (0..<count).map { number in
                var message = query.response([forged])
                if number.isMultiple(of: 2) {
                    message.id &+= UInt16(number + 1)
                } else {
                    message.questions[0].name = Self.host
                }
                return message
            }
        }
        var few = VirtualServers { forgeries($0.message, 7) + [$0.message.response([Self.service])] }
        few.ask(1, Self.lamp)
        few.run()
        #expect(few.records(1) == [Self.service] && few.queries.count == 1)
        var many = VirtualServers { query in
            query.transport == .datagram ? forgeries(query.message, 20) : [query.message.response([Self.service])]
        }
        many.ask(1, Self.lamp)
        many.run()
        #expect(many.records(1) == [Self.service] && many.queries.map(\.transport) == [.datagram, .stream])
    }

    @Test("New servers are asked the open questions, and kept answers are forgotten") func newServers() {
        var servers = VirtualServers([home]) { query in
            query.server == spare || query.message.questions[0].type == .srv
                ? [query.message.response([Self.service])] : []
        }
        servers.ask(1, Self.lamp, .srv)
        servers.ask(2, Self.lamp, .txt)
        servers.run(for: .milliseconds(500))
        servers.handle(.configured(ResolverConfiguration(servers: [spare])))
        servers.ask(3, Self.lamp, .srv)
        servers.run()
        #expect(servers.records(2) == [] && servers.records(3) == [Self.service])
        #expect(servers.queries.map(\.server) == [home, home, spare, spare])
    }

    @Test("A question without servers, and one too many, fail at once") func limits() throws {
        var none = VirtualServers([]) { _ in [] }
        none.ask(1, Self.lamp)
        #expect(none.failure(1) == .noServers)
        var many = VirtualServers { _ in [] }
        for number in 0...UInt64(StubResolver.lookupLimit) {
            many.ask(number, try Name(presentation: "host\(number).example.org"))
        }
        #expect(many.failure(UInt64(StubResolver.lookupLimit)) == .tooManyQuestions)
        many.run()
        #expect(many.answers.count == StubResolver.lookupLimit + 1 && many.open.isEmpty)
    }

    @Test("Answers are limited in number and size, and a lifetime above 31 bits counts as 0")
    func cacheLimits() throws {
        var cache = AnswerCache()
        func answer(_ lifetime: Int64, bytes: Int = 1) -> ResolvedRecords {
            let record = Record(name: Self.lamp, timeToLive: 1, data: .txt([UInt8](repeating: 0, count: bytes)))
            return ResolvedRecords(records: [record], nameExists: true, expires: .zero + .seconds(lifetime))
        }
        func question(_ number: Int) throws -> Question {
            Question(name: try Name(presentation: "host\(number).example.org"), type: .txt)
        }
        for number in 0..<2 * AnswerCache.countLimit {
            cache.insert(answer(Int64(number + 1)), to: try question(number), now: .zero)
        }
        #expect(try cache.answer(to: question(0), now: .zero) == nil)
        #expect(try cache.answer(to: question(2 * AnswerCache.countLimit - 1), now: .zero) != nil)
        for number in 0..<40 { cache.insert(answer(10_000, bytes: 60_000), to: try question(-number), now: .zero) }
        #expect(try (0..<40).filter { try cache.answer(to: question(-$0), now: .zero) != nil }.count == 17)
        var servers = VirtualServers { query in
            var record = Self.service
            record.timeToLive = .max
            return [query.message.response([record])]
        }
        servers.ask(1, Self.lamp)
        servers.run(for: .seconds(1))
        servers.ask(2, Self.lamp)
        servers.run()
        #expect(servers.queries.count == 2)
    }

    /// Servers that answer, fail, forge, truncate or stay silent at random. Each question gets exactly one answer, all
    /// sockets are closed, and no forged record is returned.
    @Test("Each question gets one answer from random servers", arguments: 0..<300)
    func randomServers(_ seed: Int) {
        let source = RandomSource(seed: UInt64(seed))
        var servers = VirtualServers(seed: UInt64(seed)) { query in
            switch source.number(below: 6) {
            case 0: return []
            case 1: return [query.message.response(code: UInt16(source.number(below: 16)))]
            case 2: return [query.message.response(flags: .truncated)]
            case 3:
                var forged = query.message.response([Record(name: Self.lamp, timeToLive: 60, data: .txt([0]))])
                forged.id &+= 1
                return [forged, query.message.response([Self.service])]
            case 4: return [query.message.response(), query.message.response([Self.service])]
            default: return [query.message.response([Self.service])]
            }
        }
        for number in 0..<40 {
            servers.ask(UInt64(number), source.number(below: 2) == 0 ? Self.lamp : Self.host)
            servers.run(for: .milliseconds(source.number(below: 5000)))
        }
        servers.run()
        #expect(servers.answers.count == 40 && servers.open.isEmpty)
        let records = (0..<40).compactMap { servers.records(UInt64($0)) }.joined()
        #expect(records.allSatisfy { $0 == Self.service })
    }
}

/// Random numbers for a closure.
private final class RandomSource {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
}
