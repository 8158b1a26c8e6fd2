import DNSWire
import MulticastDNS
import ProtocolCore
import Testing

@testable import UnicastDNS

@Suite struct PushServerSearchTests {
    private static let service: Name = "_dns-push-tls._tcp.example.org"

    private static func answer(_ records: [Record] = [], zone: Name? = nil) -> Result<ResolvedRecords, ResolverError> {
        .success(ResolvedRecords(records: records, nameExists: true, expires: .zero, zone: zone))
    }

    private static func server(_ host: Name, priority: UInt16 = 0, weight: UInt16 = 0, port: UInt16 = 853) -> Record {
        Record(
            name: service, timeToLive: 60, data: .srv(priority: priority, weight: weight, port: port, target: host))
    }

    private static func address(_ number: UInt8) -> Record {
        Record(name: "a.example.org", timeToLive: 60, data: .a(IPv4Address(192, 0, 2, number)))
    }

    /// A search that has found the zone.
    private static func search() throws -> PushServerSearch {
        var search = PushServerSearch(for: "_smartplug._tcp.example.org")
        var random = SeededRandom(seed: 1)
        _ = try search.handle(answer(zone: "example.org"), random: &random)
        return search
    }

    @Test("The zone is that of the record, or the zone that proves its absence") func zones() throws {
        var random = SeededRandom(seed: 1)
        let properties = Record(name: "example.org", timeToLive: 60, data: .other(.soa, []))
        for answer in [Self.answer([properties]), Self.answer(zone: "Example.ORG")] {
            var search = PushServerSearch(for: "_smartplug._tcp.example.org")
            #expect(search.question == Question(name: "_smartplug._tcp.example.org", type: .soa))
            let step = try search.handle(answer, random: &random)
            #expect(step == .ask(Question(name: Self.service, type: .srv)))
        }
    }

    @Test("Without a valid zone in the answer, shorter names are tried, but not the root") func shorterNames() throws {
        var random = SeededRandom(seed: 1)
        var search = PushServerSearch(for: "_smartplug._tcp.example.org")
        for (zone, next) in [(nil, "_tcp.example.org"), ("example.net", "example.org"), (".", "org")] as [(Name?, Name)]
        {
            #expect(
                try search.handle(Self.answer(zone: zone), random: &random) == .ask(Question(name: next, type: .soa)))
        }
        #expect(throws: PushFailure.noZone) { try search.handle(Self.answer(), random: &random) }
    }

    @Test("A zone without a server, and a server that is the root, offer nothing") func noServer() throws {
        var random = SeededRandom(seed: 1)
        for records in [[], [Self.server(.root)]] {
            var search = try Self.search()
            #expect(throws: PushFailure.notOffered) { try search.handle(Self.answer(records), random: &random) }
        }
        var search = try Self.search()
        #expect(throws: PushFailure.resolver(.timeout)) { try search.handle(.failure(.timeout), random: &random) }
    }

    @Test("The addresses of all servers are found, IPv6 first, and a missing family or server is skipped")
    func addresses() throws {
        var random = SeededRandom(seed: 1)
        var search = try Self.search()
        let servers = [
            Self.server("b.example.org", priority: 2), Self.server("a.example.org", priority: 1, port: 8853),
            Self.server("c.example.org", priority: 3),
        ]
        var step = try search.handle(Self.answer(servers), random: &random)
        var asked: [Question] = []
        let sixth = Record(name: "a.example.org", timeToLive: 60, data: .aaaa(IPv6Address(high: 1, low: 2)))
        while case .ask(let question) = step {
            asked.append(question)
            let answer: Result<ResolvedRecords, ResolverError> =
                switch (question.name.firstLabel.first, question.type) {
                case (UInt8(ascii: "a"), .aaaa): Self.answer([sixth])
                case (UInt8(ascii: "b"), .a): Self.answer([Self.address(1), Self.address(2)])
                case (UInt8(ascii: "b"), _): .failure(.timeout)
                default: Self.answer()
                }
            step = try search.handle(answer, random: &random)
        }
        #expect(
            step
                == .found(
                    zone: "example.org",
                    [
                        Peer(address: .v6(IPv6Address(high: 1, low: 2)), port: 8853),
                        Peer(address: .v4(192, 0, 2, 1), port: 853), Peer(address: .v4(192, 0, 2, 2), port: 853),
                    ]))
        #expect(asked.map(\.type) == [.aaaa, .a, .aaaa, .a, .aaaa, .a])
    }

    @Test("The numbers of servers and addresses are limited, and servers without addresses are not reachable")
    func limits() throws {
        for hasAddresses in [true, false] {
            var random = SeededRandom(seed: 1)
            var search = try Self.search()
            let servers = try (0..<500).map { Self.server(try Name(presentation: "s\($0).example.org")) }
            var step = try search.handle(Self.answer(servers), random: &random)
            var count = 0
            let addresses = hasAddresses ? (0..<200).map { Self.address($0) } : []
            do throws(PushFailure) {
                while case .ask = step {
                    count += 1
                    step = try search.handle(Self.answer(addresses), random: &random)
                }
                guard case .found(_, let peers) = step else { continue }
                #expect(hasAddresses && peers.count == PushServerSearch.addressLimit)
            } catch {
                #expect(!hasAddresses && error == .unreachable)
            }
            #expect(count == 2 * PushServerSearch.serverLimit)
        }
    }

    @Test("Among servers of equal priority, the weight decides how often one is the first") func weights() throws {
        var first: [Name: Int] = [:]
        for seed in 0..<2000 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var search = try Self.search()
            let servers = [
                Self.server("spare.example.org", priority: 9, weight: 60_000),
                Self.server("small.example.org", weight: 99), Self.server("large.example.org", weight: 299),
            ]
            guard case .ask(let question) = try search.handle(Self.answer(servers), random: &random) else { continue }
            first[question.name, default: 0] += 1
        }
        #expect((1400...1600).contains(first["large.example.org"] ?? 0))
        #expect((400...600).contains(first["small.example.org"] ?? 0) && first.count == 2)
    }
}
