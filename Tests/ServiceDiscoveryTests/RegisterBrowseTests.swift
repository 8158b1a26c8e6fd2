import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import Testing

struct RegisterBrowseTests {
    private let lampIdentity = ServiceIdentity(name: "Lamp", type: "_smartplug._tcp", interface: 2)

    @Test("The first announcement is sent 0.75 to 1 s after the registration", arguments: 0..<50)
    func firstAnnouncementComesWithinTheFloorOfTheRFC(seed: UInt64) throws {
        var link = TestLink(nodes: 1, seed: seed)
        link.send(.register(RegistrationID(rawValue: 1), try lamp()), to: 0)
        link.run(for: .seconds(2))
        let announced = try #require(link.packets.first { $0.message.flags.contains(.response) })
        #expect((Instant.zero + .milliseconds(750)...(Instant.zero + .seconds(1))).contains(announced.time))
        #expect(link.packets.prefix { !$0.message.flags.contains(.response) }.count == RFC6762.probeCount)
        #expect(link.reports.map(\.time) == [announced.time])
        #expect(link.names == [0: "Lamp"])
    }

    @Test("An announcement is reported on arrival, with its TXT record")
    func browserReportsTheAnnouncementAsItArrivesWithItsTXT() throws {
        var link = TestLink(nodes: 2)
        link.send(.browse(BrowseID(rawValue: 7), "_smartplug._tcp"), to: 1)
        link.run(for: .seconds(10))
        link.send(.register(RegistrationID(rawValue: 1), try lamp()), to: 0)
        link.run(for: .seconds(10))
        let announced = try #require(link.packets.first { $0.message.flags.contains(.response) })
        let changes = link.changes(at: 1)
        #expect(changes.map(\.change) == [.found(lampIdentity, txt: try lamp().txt)])
        #expect(changes.first?.time == announced.time + .milliseconds(1))
    }

    @Test("A browse finds an existing service within 242 ms") func aLateBrowserFindsWhatIsThere() throws {
        var link = TestLink(nodes: 2)
        link.send(.register(RegistrationID(rawValue: 1), try lamp()), to: 0)
        link.run(for: .seconds(20))
        let start = link.now
        link.send(.browse(BrowseID(rawValue: 7), "_smartplug._tcp"), to: 1)
        link.run(for: .seconds(1))
        let changes = link.changes(at: 1)
        #expect(changes.map(\.change) == [.found(lampIdentity, txt: try lamp().txt)])
        let found = try #require(changes.first)
        #expect(found.time - start <= .milliseconds(242))
    }

    @Test("A second browse is answered from the cache immediately")
    func aSecondBrowseIsAnsweredFromTheCacheAtOnce() throws {
        var link = TestLink(nodes: 2)
        link.send(.register(RegistrationID(rawValue: 1), try lamp()), to: 0)
        link.send(.browse(BrowseID(rawValue: 7), "_smartplug._tcp"), to: 1)
        link.run(for: .seconds(20))
        link.send(.browse(BrowseID(rawValue: 8), "_smartplug._tcp"), to: 1)
        let last = try #require(link.reports.last)
        #expect(last.time == link.now)
        #expect(last.action == .browse(BrowseID(rawValue: 8), .found(lampIdentity, txt: try lamp().txt)))
    }

    @Test("A stopped node sends a goodbye, and its service is lost one second later")
    func stopSaysGoodbyeAndTheBrowserLosesTheServiceASecondLater() throws {
        var link = TestLink(nodes: 2)
        link.send(.browse(BrowseID(rawValue: 7), "_smartplug._tcp"), to: 1)
        link.send(.register(RegistrationID(rawValue: 1), try lamp()), to: 0)
        link.run(for: .seconds(20))
        let stopped = link.now
        link.send(.stop, to: 0)
        link.run(for: .seconds(5))
        #expect(link.changes(at: 1).last?.change == .lost(lampIdentity))
        #expect(link.changes(at: 1).last?.time == stopped + .milliseconds(1001))
        #expect(link.nodes[0].nextDeadline == nil)
    }

    @Test("A changed TXT record is reported on arrival") func changedTXTReachesTheBrowser() throws {
        var link = TestLink(nodes: 2)
        link.send(.browse(BrowseID(rawValue: 7), "_smartplug._tcp"), to: 1)
        link.send(.register(RegistrationID(rawValue: 1), try lamp()), to: 0)
        link.run(for: .seconds(20))
        let txt = try TXTRecord(["txtvers": "1", "pair": "open"])
        let start = link.now
        link.send(.updateTXT(RegistrationID(rawValue: 1), txt), to: 0)
        link.run(for: .seconds(20))
        let changes = link.changes(at: 1)
        #expect(changes.map(\.change) == [.found(lampIdentity, txt: try lamp().txt), .changed(lampIdentity, txt: txt)])
        #expect(changes.last?.time == start + .milliseconds(1))
        #expect(link.names == [0: "Lamp"])
    }

    @Test("A service whose host loses power is lost when its records expire")
    func aServiceThatLostPowerGoesWhenItsRecordsEnd() throws {
        var link = TestLink(nodes: 2)
        link.send(.browse(BrowseID(rawValue: 7), "_smartplug._tcp"), to: 1)
        link.send(.register(RegistrationID(rawValue: 1), try lamp()), to: 0)
        link.run(for: .seconds(20))
        link.dead = [0]
        link.run(for: .seconds(4400))
        #expect(link.changes(at: 1).count == 1)
        link.run(for: .seconds(200))
        #expect(link.changes(at: 1).last?.change == .lost(lampIdentity))
    }

    @Test("After a reconfirm, a service whose host lost power is lost after ten seconds, and a running one stays")
    func reconfirmingADeadServiceRemovesItWithinTenSeconds() throws {
        var link = TestLink(nodes: 2)
        link.send(.browse(BrowseID(rawValue: 7), "_smartplug._tcp"), to: 1)
        link.send(.resolve(ResolveID(rawValue: 9), lampIdentity), to: 1)
        link.send(.register(RegistrationID(rawValue: 1), try lamp()), to: 0)
        link.run(for: .seconds(20))
        // A running service answers the queries and stays.
        link.send(.reconfirm(lampIdentity), to: 1)
        link.run(for: .seconds(20))
        #expect(link.changes(at: 1).count == 1)
        link.dead = [0]
        link.send(.reconfirm(lampIdentity), to: 1)
        let start = link.now
        link.run(for: .seconds(20))
        #expect(link.changes(at: 1).last?.change == .lost(lampIdentity))
        #expect(link.changes(at: 1).last?.time == start + .seconds(10))
        #expect(link.reports.contains { $0.action == .unresolved(ResolveID(rawValue: 9)) })
    }

    @Test("A browse for a subtype finds its services") func subtypesAreBrowsedAndTypesEnumerated() throws {
        var link = TestLink(nodes: 2)
        link.send(.register(RegistrationID(rawValue: 1), try lamp(subtypes: ["_dimmer"])), to: 0)
        link.run(for: .seconds(5))
        link.send(.browse(BrowseID(rawValue: 7), "_dimmer._sub._smartplug._tcp"), to: 1)
        link.run(for: .seconds(5))
        #expect(link.changes(at: 1).map(\.change) == [.found(lampIdentity, txt: try lamp().txt)])
    }

    @Test("Services are lost when their interface is removed, and found again when the interface returns")
    func anInterfaceThatGoesTakesItsServicesAlongAndBringsThemBack() throws {
        var link = TestLink(nodes: 2)
        link.send(.browse(BrowseID(rawValue: 7), "_smartplug._tcp"), to: 1)
        link.send(.register(RegistrationID(rawValue: 1), try lamp()), to: 0)
        link.run(for: .seconds(20))
        link.send(.interfaceRemoved(2), to: 1)
        #expect(link.changes(at: 1).last?.change == .lost(lampIdentity))
        link.send(.interfaceChanged(TestLink.interface(of: 1)), to: 1)
        link.run(for: .seconds(1))
        #expect(link.changes(at: 1).last?.change == .found(lampIdentity, txt: try lamp().txt))
    }
}
