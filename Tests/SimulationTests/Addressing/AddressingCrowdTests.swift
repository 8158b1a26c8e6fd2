import AddressConfiguration
import DNSWire
import ProtocolCore
import SimulatedLAN
import Testing

/// Starts 500 plugs within one second, as after a power cut of a complete house.
///
/// RFC 2131 §4.4.1 asks each client to wait for 1 to 10 s before its first message. The plugs wait up to 1 s. These
/// tests measure the resulting load of the link. An ARP packet takes 84 bytes of Ethernet and a DHCP message 400, so
/// the bounds are below 2 Mbit/s of ARP and 7 Mbit/s of DHCP in the worst second.
@Suite struct AddressingCrowdTests {
    private func house(servers: [ScriptedServer]) -> AddressingHouse {
        let house = AddressingHouse(
            seed: 1, plugs: 500, hosts: 0, servers: servers, budget: 2_000_000, isTraced: false)
        var random = SeededRandom(seed: 1)
        for number in 0..<500 {
            let hardware = MACAddress(2, 0, 0, 0, UInt8(number / 256), UInt8(number % 256))
            house.add(AddressedPlug(hardware: hardware, memory: RememberedAddresses(), seed: random.next()))
            house.schedule(.happening(.powerOn(number)), after: random.duration(in: .zero...(.seconds(1))))
        }
        return house
    }

    private func server(_ manner: ScriptedServer.Manner = .correct) -> ScriptedServer {
        let pool = (1...600).map { IPv4Address(rawValue: IPv4Address(10, 0, 1, 0).rawValue + UInt32($0)) }
        return ScriptedServer(number: 1, manner: manner, pool: pool, taken: [], leaseTime: 3600, seed: 1)
    }

    private func peaks(_ house: AddressingHouse) -> (arp: Int, dhcp: Int) {
        (house.segment.arpPerSecond.values.max() ?? 0, house.segment.dhcpPerSecond.values.max() ?? 0)
    }

    @Test("With a DHCP server, 500 plugs have a lease after three seconds, without a storm of messages")
    func withAServerAllHaveALeaseAfterThreeSecondsWithoutAStorm() throws {
        let house = house(servers: [server()])
        try house.run(until: .seconds(3))
        #expect(house.plugs.indices.allSatisfy { house.usable($0).map { $0.rawValue >> 24 == 10 } ?? false })
        try house.checkAddressesAreUnique()
        try house.run(until: .seconds(60))
        let peaks = peaks(house)
        print("500 plugs, a server: at most \(peaks.arp) ARP packets and \(peaks.dhcp) DHCP messages per second")
        #expect(peaks.arp < 2000 && peaks.dhcp < 1500)
        // Three probes and two announcements, plus the probes of an interrupted link-local claim; DISCOVER and REQUEST.
        #expect(house.plugs.allSatisfy { $0.tally.arp <= 8 && $0.tally.dhcp == 2 })
    }

    @Test("Without a DHCP server, 500 plugs have unique link-local addresses, without a storm of messages")
    func withoutAServerAllHaveALinkLocalAddressWithoutAStorm() throws {
        let house = house(servers: [])
        // Some of the 500 plugs draw the same address and have to claim a second one, so there is time for two claims.
        try house.run(until: .seconds(16))
        try house.checkEverybodyHasAnAddress()
        try house.checkAddressesAreUnique()
        try house.run(until: .seconds(600))
        let peaks = peaks(house)
        print("500 plugs, no server: at most \(peaks.arp) ARP packets and \(peaks.dhcp) DHCP messages per second")
        #expect(peaks.arp < 600 && peaks.dhcp < 400)
        // A plug repeats DISCOVER after 4, 8, 16 and 32 s, and then every 64 s.
        #expect(house.plugs.allSatisfy { $0.tally.dhcp <= 16 })
    }

    @Test("With a DHCP server that refuses every request, each of 500 plugs sends at most 40 DHCP messages in 600 s")
    func withAServerThatRefusesEverybodyTheyAskLessAndLess() throws {
        let house = house(servers: [server(.refusing)])
        try house.run(until: .seconds(600))
        try house.checkEverybodyHasAnAddress()
        let peaks = peaks(house)
        print("500 plugs, refused: at most \(peaks.arp) ARP packets and \(peaks.dhcp) DHCP messages per second")
        #expect(peaks.dhcp < 2000)
        #expect(house.plugs.allSatisfy { $0.tally.dhcp <= 40 })
    }
}
