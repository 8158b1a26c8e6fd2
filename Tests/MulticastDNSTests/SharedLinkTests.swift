import DNSWire
import MulticastDNS
import ProtocolCore
import Testing

/// A host with several interfaces on one link.
struct SharedLinkTests {
    private func v6(_ last: UInt64) -> IPAddress { .v6(IPv6Address(high: 0xFE80 << 48, low: last)) }

    private func network(_ id: InterfaceID, _ addresses: InterfaceAddress...) -> NetworkInterface {
        NetworkInterface(id: id, name: "if\(id)", addresses: addresses)
    }

    private func record(_ address: IPAddress) -> Record {
        Record(name: host, isCacheFlush: true, timeToLive: 120, data: RecordData(address))
    }

    private func addresses(_ test: Harness<Responder>, on interface: InterfaceID) throws -> Set<IPAddress> {
        var test = test
        test.clear()
        test.run(for: .seconds(2))
        for source in [stranger, Peer(address: v6(99), port: 5353)] {
            test.send(.received(try inbound(ask(host, .any), from: source, on: interface)))
        }
        return Set(
            test.sent.flatMap { $0.message.answers }.compactMap {
                switch $0.data {
                case .a(let address): .v4(address)
                case .aaaa(let address): .v6(address)
                case .ptr, .srv, .txt, .nsec, .other: nil
                }
            })
    }

    @Test("Two interfaces in the same subnet both publish the addresses of both")
    func twoAddressesInOneSubnetArePublishedTogetherOnBoth() throws {
        let wireless = network(3, InterfaceAddress(.v4(10, 0, 0, 2), prefixLength: 24))
        var test = Harness.responder(on: [ethernet, wireless])
        test.run(for: .seconds(60))
        let announcements = test.sent.filter { $0.message.flags.contains(.response) }
        let both = [record(.v4(10, 0, 0, 1)), record(.v4(10, 0, 0, 2))]
        #expect(Set(announcements.map(\.datagram.interface)) == [2, 3])
        #expect(announcements.allSatisfy { packet in both.allSatisfy(packet.message.answers.contains) })
        // When an interface is removed, its address gets a goodbye on the other interface.
        test.clear()
        test.send(.interfaceRemoved(3))
        #expect(test.sent.first?.message == response([address(2, ttl: 0)]))
        let published1 = try addresses(test, on: 2)
        #expect(published1 == [.v4(10, 0, 0, 1)])
    }

    @Test("A deprecated address is published only if its family has no other address")
    func aDeprecatedAddressIsPublishedWhereThereIsNoOtherOfItsFamily() throws {
        let lease = InterfaceAddress(.v4(10, 0, 0, 1), prefixLength: 24)
        let former = InterfaceAddress(.v4(169, 254, 7, 8), prefixLength: 16, isDeprecated: true)
        let last = InterfaceAddress(v6(1), prefixLength: 64, isDeprecated: true)
        var test = Harness.announced(on: [network(2, former, lease, last)])
        #expect(try addresses(test, on: 2) == [.v4(10, 0, 0, 1), v6(1)])
        test.send(.interfaceChanged(network(2, former, last)))
        #expect(try addresses(test, on: 2) == [.v4(169, 254, 7, 8), v6(1)])
    }

    @Test("A packet from our other interface shows that both interfaces are on the same link")
    func hearingOurselvesTellsThatTwoInterfacesShareALink() throws {
        let left = network(2, InterfaceAddress(v6(1), prefixLength: 64))
        let right = network(3, InterfaceAddress(v6(2), prefixLength: 64))
        var test = Harness.announced(on: [left, right])
        let published2 = try addresses(test, on: 2)
        #expect(published2 == [v6(1)])
        let ourselves = Peer(address: v6(2), port: 5353)
        test.send(.received(try inbound(response([pointer()]), from: ourselves, on: 2)))
        #expect(test.sent.map(\.datagram.interface).contains(3))
        let published3 = try addresses(test, on: 2)
        #expect(published3 == [v6(1), v6(2)])
        let published4 = try addresses(test, on: 3)
        #expect(published4 == [v6(1), v6(2)])
        #expect(test.conflicts.isEmpty)
        // After a link was lost, the interface may be on a different link.
        test.send(.interfaceRemoved(3))
        test.send(.interfaceChanged(right))
        test.run(for: .seconds(30))
        let published5 = try addresses(test, on: 2)
        #expect(published5 == [v6(1)])
        let published6 = try addresses(test, on: 3)
        #expect(published6 == [v6(2)])
    }

    @Test("Interfaces on different links publish only their own addresses")
    func linksThatAreApartKeepTheirAddresses() throws {
        let other = network(3, InterfaceAddress(.v4(10, 0, 1, 2), prefixLength: 24))
        var test = Harness.announced(on: [ethernet, other])
        // The packets come from a neighbour, and from ourselves on the interface that sent them.
        test.send(.received(try inbound(response([pointer()]))))
        test.send(.received(try inbound(response([pointer()]), from: Peer(address: .v4(10, 0, 0, 1), port: 5353))))
        let published7 = try addresses(test, on: 2)
        #expect(published7 == [.v4(10, 0, 0, 1)])
        let published8 = try addresses(test, on: 3)
        #expect(published8 == [.v4(10, 0, 1, 2)])
        let local = [2, 3].map { (id: InterfaceID) in
            network(id, InterfaceAddress(.v4(169, 254, 0, UInt8(id)), prefixLength: 16))
        }
        let published9 = try addresses(Harness.announced(on: local), on: 2)
        #expect(published9 == [.v4(169, 254, 0, 2)])
    }

    /// While the responder has two interfaces on the peer's link, the peer always caches both addresses.
    @Test("A peer on the shared link caches both addresses for minutes")
    func aPeerKeepsBothAddresses() throws {
        let wireless = network(3, InterfaceAddress(.v4(10, 0, 0, 2), prefixLength: 24))
        var test = Harness.responder(on: [ethernet])
        var peer = Harness.querier()
        peer.send(.ask(QuestionKey(name: host, type: .a), on: nil))
        var seen = 0
        for second in 0..<300 {
            if second == 20 { test.send(.interfaceChanged(wireless)) }
            for _ in 0..<4 {
                test.run(for: .milliseconds(250))
                peer.run(for: .milliseconds(250))
                for packet in test.sent.dropFirst(seen) { peer.send(.received(try inbound(packet.message))) }
                seen = test.sent.count
                let questions = peer.sent.map(\.message)
                peer.clear()
                for question in questions {
                    test.send(.received(try inbound(question)))
                    test.send(.received(try inbound(question, on: 3)))
                }
            }
            let cached = peer.machine.records(for: QuestionKey(name: host, type: .a), on: 2).count
            if second > 2, second < 20 { #expect(cached == 1) }
            if second > 22 { #expect(cached == 2, "second \(second)") }
        }
    }
}
