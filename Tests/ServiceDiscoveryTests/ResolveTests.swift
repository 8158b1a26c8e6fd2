import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import Testing

struct ResolveTests {
    private let id = RegistrationID(rawValue: 1)
    private let identity = ServiceIdentity(name: "Lamp", type: "_smartplug._tcp", interface: 2)

    private func resolved(_ link: TestLink, at node: Int) -> [ResolvedService] {
        link.reports.compactMap { report in
            guard report.node == node, case .resolved(_, let service) = report.action else { return nil }
            return service
        }
    }

    @Test("A resolve returns host, port, addresses and TXT record") func hostPortAddressesAndTXT() throws {
        var link = TestLink(nodes: 2)
        link.send(.register(id, try lamp()), to: 0)
        link.run(for: .seconds(20))
        let start = link.now
        link.send(.resolve(ResolveID(rawValue: 1), identity), to: 1)
        link.run(for: .seconds(2))
        let expected = ResolvedService(
            identity: identity, hostName: "plug-1a2b3c.local", port: 4000,
            addresses: [.init(address: TestLink.address(of: 0), interface: 2)], txt: try lamp().txt)
        #expect(resolved(link, at: 1) == [expected])
        #expect(try #require(link.reports.last).time - start < .milliseconds(400))
    }

    @Test("A browsed service is resolved from the cache immediately")
    func aBrowsedServiceIsResolvedFromTheCacheAtOnce() throws {
        var link = TestLink(nodes: 2)
        link.send(.browse(BrowseID(rawValue: 1), "_smartplug._tcp"), to: 1)
        link.send(.register(id, try lamp()), to: 0)
        link.run(for: .seconds(20))
        link.send(.resolve(ResolveID(rawValue: 1), identity), to: 1)
        #expect(resolved(link, at: 1).count == 1)
        #expect(link.reports.last?.time == link.now)
    }

    @Test("Priority services are resolved despite many other resolves, of which the oldest are displaced")
    func whatIsResolvedOfStrangersMakesNoRoomScarceForWhatMatters() throws {
        var link = TestLink(nodes: 2)
        link.send(.register(id, try lamp()), to: 0)
        link.run(for: .seconds(20))
        link.send(.prioritize([ServiceIdentity(name: "Lamp", type: "_smartplug._tcp")]), to: 1)
        func stranger(_ number: UInt64) -> DiscoveryNode.Event {
            .resolve(
                ResolveID(rawValue: 10 + number), ServiceIdentity(name: "False \(number)", type: "_smartplug._tcp"))
        }
        for number in 0..<2000 as Range<UInt64> { link.send(stranger(number), to: 1) }
        link.send(.resolve(ResolveID(rawValue: 5000), identity), to: 1)
        link.send(stranger(2000), to: 1)
        link.send(stranger(2001), to: 1)
        link.run(for: .seconds(1))
        #expect(resolved(link, at: 1).map(\.port) == [4000])
        // The oldest resolves are displaced.
        let displaced = link.reports.filter { if case .displaced = $0.action { true } else { false } }.map(\.action)
        #expect(displaced == [.displaced(ResolveID(rawValue: 10)), .displaced(ResolveID(rawValue: 11))])
    }

    @Test("A resolve reports changes, loss and return of a service until it is cancelled")
    func resolveStaysLive() throws {
        var link = TestLink(nodes: 2)
        link.send(.register(id, try lamp()), to: 0)
        link.run(for: .seconds(10))
        link.send(.resolve(ResolveID(rawValue: 1), identity), to: 1)
        link.run(for: .seconds(300))
        // The result is reported again only when the records are refreshed (RFC 6762 §5.2).
        #expect((1...5).contains(resolved(link, at: 1).count))
        #expect(Set(resolved(link, at: 1)).count == 1)
        link.send(.unregister(id), to: 0)
        link.run(for: .seconds(2))
        #expect(link.reports.last?.action == .unresolved(ResolveID(rawValue: 1)))
        link.send(.register(id, try lamp(port: 4001)), to: 0)
        link.run(for: .seconds(2))
        #expect(resolved(link, at: 1).last?.port == 4001)
        link.send(.cancelResolve(ResolveID(rawValue: 1)), to: 1)
        let count = link.reports.count
        link.send(.register(id, try lamp(port: 4002)), to: 0)
        link.run(for: .seconds(2))
        #expect(!link.reports.dropFirst(count).contains { $0.node == 1 })
    }

    @Test("A service that is announced again is resolved again") func whatIsAnnouncedAnewIsToldAgain() throws {
        var link = TestLink(nodes: 2)
        link.send(.register(id, try lamp()), to: 0)
        link.run(for: .seconds(10))
        link.send(.resolve(ResolveID(rawValue: 1), identity), to: 1)
        link.run(for: .seconds(10))
        let count = resolved(link, at: 1).count
        // The same plug announces itself again at the same port, as after a loss of power.
        link.send(.unregister(id), to: 0)
        link.send(.register(id, try lamp()), to: 0)
        link.run(for: .seconds(2))
        #expect(resolved(link, at: 1).count > count)
    }

    /// Two interfaces on the same network receive the announcements of one host. One connection attempt to its IPv4
    /// address is enough.
    @Test("An IPv4 address from two interfaces is listed once, an IPv6 link-local one per interface")
    func anAddressHeardOnTwoInterfacesIsThereOnce() throws {
        let families: Set<IPFamily> = [.v4, .v6]
        var link = TestLink(nodes: 1, families: families)
        link.send(.register(id, try lamp()), to: 0)
        link.run(for: .seconds(5))
        var node = DiscoveryNode(random: SeededRandom(seed: 1))
        let resolve = ResolveID(rawValue: 1)
        _ = node.handle(.resolve(resolve, ServiceIdentity(name: "Lamp", type: "_smartplug._tcp")), now: link.now)
        var last: DiscoveryNode.Action?
        for interface: InterfaceID in [2, 3] {
            let own = TestLink.interface(of: 1, families: families)
            let network = NetworkInterface(id: interface, name: "eth", addresses: own.addresses, families: families)
            _ = node.handle(.interfaceChanged(network), now: link.now)
            for packet in link.packets {
                let datagram = InboundDatagram(
                    bytes: packet.datagram.bytes, interface: interface, source: TestLink.address(of: 0),
                    sourcePort: RFC6762.port, wasMulticast: true)
                last = node.handle(.received(datagram), now: link.now).last ?? last
            }
        }
        guard case .resolved(resolve, let service) = last else {
            Issue.record("the service was not resolved: \(String(describing: last))")
            return
        }
        let host = TestLink.interface(of: 0, families: families).addresses.map(\.address)
        #expect(
            service.addresses == [
                .init(address: host[0], interface: 2), .init(address: host[1], interface: 2),
                .init(address: host[1], interface: 3),
            ])
    }

    @Test("Addresses of both families are resolved") func bothFamiliesAreResolved() throws {
        var link = TestLink(nodes: 2, families: [.v4, .v6])
        link.send(.register(id, try lamp()), to: 0)
        link.run(for: .seconds(20))
        link.send(.resolve(ResolveID(rawValue: 1), ServiceIdentity(name: "lamp", type: "_smartplug._tcp")), to: 1)
        link.run(for: .seconds(2))
        let addresses = TestLink.interface(of: 0, families: [.v4, .v6]).addresses
        #expect(resolved(link, at: 1).last?.addresses.map(\.address) == addresses.map(\.address))
    }

    @Test("A node on loopback uses only IPv4") func loopbackWorksWithIPv4Alone() throws {
        var node = DiscoveryNode(random: SeededRandom(seed: 1))
        let loopback = NetworkInterface(
            id: 1, name: "lo",
            addresses: [
                InterfaceAddress(.v4(127, 0, 0, 1), prefixLength: 8),
                InterfaceAddress(.v6(IPv6Address(high: 0, low: 1)), prefixLength: 128),
            ])
        var now = Instant.zero
        var sent = node.handle(.interfaceChanged(loopback), now: now)
        sent += node.handle(.register(id, try lamp()), now: now)
        while let next = node.nextDeadline {
            now = next
            sent += node.handle(.deadlineReached, now: now)
        }
        let datagrams = sent.compactMap { action -> OutboundDatagram? in
            guard case .send(let datagram) = action else { return nil }
            return datagram
        }
        #expect(datagrams.count == RFC6762.probeCount + RFC6762.announcementCount)
        #expect(datagrams.allSatisfy { $0.destination == .multicast(.v4) && $0.interface == 1 })
        let records = try Message(decoding: try #require(datagrams.last).bytes).answers
        #expect(records.filter { $0.type == .a }.map(\.data) == [.a(IPv4Address(127, 0, 0, 1))])
        #expect(!records.contains { $0.type == .aaaa })
        // The node sends no records for reverse mapping, because they belong to the machine's own responder.
        #expect(!records.contains { $0.name.description.hasSuffix("arpa") })
    }
}

struct NodeFuzzTests {
    @Test(
        "A node works after a flood of mutated packets, and sends a limited number of packets", arguments: 0..<3)
    func mutatedPacketsNeverStopANode(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var link = TestLink(nodes: 2, seed: seed)
        link.send(.browse(BrowseID(rawValue: 1), "_smartplug._tcp"), to: 1)
        link.send(.resolve(ResolveID(rawValue: 1), ServiceIdentity(name: "Lamp", type: "_smartplug._tcp")), to: 1)
        link.send(.register(RegistrationID(rawValue: 1), try lamp(subtypes: ["_dimmer"])), to: 0)
        link.run(for: .seconds(20))
        let corpus = link.packets.map(\.datagram.bytes)
        for _ in 0..<1500 {
            var bytes = try #require(corpus.randomElement(using: &random))
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let datagram = InboundDatagram(
                bytes: bytes, interface: 2, source: .v4(10, 0, 0, 77), sourcePort: 5353, wasMulticast: true)
            for node in 0...1 { link.send(.received(datagram), to: node) }
            link.run(for: .milliseconds(20))
        }
        let noise = link.packets.count
        #expect(link.nodes[0].malformedCount > 0)
        // The mutated packets arrive for 30 s. The nodes may answer, probe and query, but not cause a storm.
        #expect(noise < 6000, "\(noise) packets")
        link.send(.browse(BrowseID(rawValue: 2), "_smartplug._tcp"), to: 1)
        link.run(for: .seconds(30))
        let name = try #require(link.names[0])
        let identity = ServiceIdentity(name: name, type: "_smartplug._tcp", interface: 2)
        #expect(link.changes(at: 1).contains { $0.change == .found(identity, txt: try? lamp().txt) })
    }
}
