import DNSWire
import MulticastDNS
import ProtocolCore
import Testing

@testable import UnicastDNS

@Suite struct DomainEnumeratorTests {
    @Test(
        "The name of a network has the address without the bits of the host",
        arguments: [
            (IPAddress.v4(192, 0, 2, 77), 24, "0.2.0.192.in-addr.arpa"),
            (.v4(192, 0, 2, 77), 26, "64.2.0.192.in-addr.arpa"),
            (.v4(192, 0, 2, 77), 32, "77.2.0.192.in-addr.arpa"),
            (.v4(192, 0, 2, 77), 255, "77.2.0.192.in-addr.arpa"),
            (.v4(192, 0, 2, 77), 0, "0.0.0.0.in-addr.arpa"),
            (
                IPAddress(bytes: [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0xff] + [UInt8](repeating: 9, count: 8))!, 60,
                "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.f.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"
            ),
        ])
    func networkName(_ address: IPAddress, _ prefix: Int, _ text: String) throws {
        #expect(Name(network: address, prefixLength: UInt8(prefix)) == (try Name(presentation: text)))
    }

    private func records(_ names: [Name], until expires: Instant) -> ResolvedRecords {
        ResolvedRecords(
            records: names.map {
                Record(name: "lb._dns-sd._udp.example.org", timeToLive: 60, data: .ptr($0))
            }, nameExists: true, expires: expires)
    }

    @Test("Lists below all search domains are merged, and a list of a previous network is dropped")
    func merged() {
        var machine = DomainEnumerator(.automaticBrowsing, firstQuery: QueryID(rawValue: 3))
        let asked = machine.handle(.refresh(["example.org", "2.0.192.in-addr.arpa"]), now: .zero)
        let questions: [DomainEnumerator.Action] = [
            .ask(QueryID(rawValue: 3), Question(name: "lb._dns-sd._udp.2.0.192.in-addr.arpa", type: .ptr)),
            .ask(QueryID(rawValue: 4), Question(name: "lb._dns-sd._udp.example.org", type: .ptr)),
        ]
        #expect(asked == questions)
        let expires = Instant.zero + .seconds(60)
        _ = machine.handle(
            .answered(QueryID(rawValue: 4), .success(records(["a.org", "local", "b.org"], until: expires))), now: .zero)
        #expect(machine.domains == ["a.org", "b.org"] && !machine.isComplete)
        _ = machine.handle(.answered(QueryID(rawValue: 3), .success(records(["b.org"], until: expires))), now: .zero)
        #expect(machine.domains == ["a.org", "b.org"] && machine.isComplete)
        #expect(machine.nextDeadline == expires)
        _ = machine.handle(.refresh(["2.0.192.in-addr.arpa"]), now: .zero)
        #expect(machine.domains == ["b.org"])
        #expect(machine.handle(.stop, now: .zero) == [.cancel(QueryID(rawValue: 5))])
        #expect(machine.domains == [])
    }

    @Test("The numbers of lists and of domains are limited") func limits() {
        var machine = DomainEnumerator(.browsing, firstQuery: QueryID(rawValue: 0))
        let parents = (0..<40).compactMap { try? Name(presentation: "d\($0).org") }
        #expect(machine.handle(.refresh(parents), now: .zero).count == DomainEnumerator.listLimit)
        _ = machine.handle(
            .answered(QueryID(rawValue: 0), .success(records(parents, until: .zero + .seconds(60)))), now: .zero)
        #expect(machine.domains == Array(parents.prefix(DomainEnumerator.domainLimit)))
    }
}
