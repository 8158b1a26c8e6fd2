import AddressConfiguration
import DNSWire
import ProtocolCore
import Testing

@Suite("An interface with an address that an owner chose")
struct FixedAddressTests {
    private let address = IPv4Address(192, 168, 1, 20)
    private let router = IPv4Address(192, 168, 1, 1)
    private let fixed: FixedAddress

    init() throws {
        fixed = try FixedAddress("192.168.1.20/24", router: "192.168.1.1", nameServers: ["192.168.1.1", "9.9.9.9"])
    }

    private func bench() -> Bench {
        var bench = Bench(fixed: fixed)
        bench.server = TestServer()
        bench.send(.linkUp)
        bench.run(for: .seconds(10))
        return bench
    }

    @Test("The address is probed and used, with its router and name servers, and no server is asked") func used() {
        let bench = bench()
        #expect(bench.assigned.keys.map(\.self) == [address])
        #expect(bench.assigned[address]?.prefixLength == 24 && bench.assigned[address]?.validFor == nil)
        #expect(bench.arp.map(\.packet).filter { $0.isProbe && $0.targetAddress == address }.count == 3)
        #expect(
            !bench.log.contains {
                switch $0.action {
                case .broadcastDHCP, .sendDHCP: true
                default: false
                }
            })
        #expect(bench.routes.contains { $0.destination == .any && $0.router == router && $0.source == address })
        #expect(bench.handedOn.last == NetworkServers(nameServers: [router, IPv4Address(9, 9, 9, 9)]))
        #expect(bench.notices == [.fixed(address)])
        #expect(bench.machine.status == AddressingStatus(linkLocal: .none, dhcp: .fixed(address), conflicts: 0))
    }

    @Test("If another host has the address, the plug has a link-local one, and tries again every minute")
    func conflict() {
        var bench = Bench(fixed: fixed)
        bench.send(.linkUp)
        bench.run(for: .milliseconds(1))
        bench.hear(.announcement(of: address, from: Bench.other))
        bench.run(for: .seconds(30))
        #expect(bench.linkLocal != nil && bench.assigned[address] == nil)
        #expect(bench.notices.contains(.conflict(address, with: Bench.other)))
        bench.run(for: .seconds(40))
        #expect(bench.assigned[address] != nil)
        bench.run(for: .seconds(60))
        #expect(bench.linkLocal == nil)
    }

    @Test("A second conflict in a short time ends the use of the address") func stolen() {
        var bench = bench()
        bench.hear(.announcement(of: address, from: Bench.other))
        #expect(bench.assigned[address] != nil)
        bench.hear(.announcement(of: address, from: Bench.other))
        bench.run(for: .seconds(20))
        #expect(bench.assigned[address] == nil && bench.linkLocal != nil && bench.notices.contains(.gaveUp(address)))
    }

    @Test("The address returns with the link, and after a resume") func link() {
        var bench = bench()
        bench.send(.linkDown)
        #expect(bench.assigned.isEmpty)
        bench.run(for: .seconds(5))
        bench.send(.linkUp)
        bench.run(for: .seconds(5))
        #expect(bench.assigned[address] != nil)
        bench.send(.inUse([address]))
        bench.send(.resumed)
        #expect(bench.assigned[address] != nil, "the address of a connection lingers")
        bench.run(for: .seconds(60))
        #expect(bench.assigned.keys.map(\.self) == [address])
    }

    @Test("A restarted plugd keeps the address while it probes it") func restart() {
        let remembered = RememberedAddresses(lease: RememberedLease(address: address, server: .any))
        #expect(bench().remembered.last == remembered)
        var bench = Bench(fixed: fixed, remembered: remembered, inherited: [address])
        bench.send(.linkUp)
        bench.run(for: .seconds(60))
        #expect(bench.assigned.keys.map(\.self) == [address])
        #expect(!bench.log.contains { $0.action == .remove(address) })
    }

    @Test(
        "An address that cannot be used is refused",
        arguments: [
            ("", ""), ("192.168.1.20", ""), ("192.168.1.20/", ""), ("192.168.1.20/31", ""), ("192.168.1.20/7", ""),
            ("192.168.1.256/24", ""), ("192.168.1/24", ""), ("192.168.1.20/24/1", ""), ("192.168.1.+2/24", ""),
            ("192.168.1.0/24", ""), ("192.168.1.255/24", ""), ("127.0.0.1/8", ""), ("224.0.0.1/24", ""),
            ("169.254.1.1/16", ""), ("0.0.0.1/8", ""), ("255.255.255.255/24", ""), ("192.168.1.20/24", "192.168.1.20"),
            ("192.168.1.20/24", "192.168.2.1"), ("192.168.1.20/24", "192.168.1.0"), ("192.168.1.20/24", "router"),
        ])
    func mistakes(_ text: String, _ router: String) {
        #expect(throws: FixedAddress.Mistake.self) { try FixedAddress(text, router: router, nameServers: []) }
    }

    @Test("Name servers are addresses of hosts, at most three") func nameServers() throws {
        for servers in [["0.0.0.0"], ["x"], [""], ["9.9.9.9", "1.1.1.1", "8.8.8.8", "8.8.4.4"]] {
            #expect(throws: FixedAddress.Mistake.self) {
                try FixedAddress("192.168.1.20/24", router: "", nameServers: servers)
            }
        }
        #expect(FixedAddress(line: fixed.line) == fixed)
        #expect(FixedAddress(line: "192.168.1.20/24,-")?.router == nil)
        for line in ["", "192.168.1.20/24", "192.168.1.20/24,", "192.168.1.20/24,-,x"] {
            #expect(FixedAddress(line: line) == nil, "\(line)")
        }
    }
}
