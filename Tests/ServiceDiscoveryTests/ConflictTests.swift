import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import Testing

struct ConflictTests {
    private let id = RegistrationID(rawValue: 1)

    @Test("If two plugs register the same name at once, one is renamed", arguments: 0..<30)
    func twoPlugsOfOneNameStartedTogether(seed: UInt64) throws {
        var link = TestLink(nodes: 2, seed: seed)
        link.send(.register(id, try lamp(host: "plug-1", port: 1)), to: 0)
        link.send(.register(id, try lamp(host: "plug-2", port: 2)), to: 1)
        link.run(for: .seconds(10))
        #expect(Set(link.names.values) == ["Lamp", "Lamp (2)"])
    }

    @Test("A plug that registers a used name is renamed", arguments: 0..<30)
    func aNewcomerYieldsToTheOneThatHasTheName(seed: UInt64) throws {
        var link = TestLink(nodes: 2, seed: seed)
        link.send(.register(id, try lamp(host: "plug-1", port: 9)), to: 0)
        link.run(for: .seconds(5))
        link.send(.register(id, try lamp(host: "plug-2", port: 1)), to: 1)
        link.run(for: .seconds(5))
        #expect(link.names == [0: "Lamp", 1: "Lamp (2)"])
    }

    /// RFC 6762 §9 allows a later attempt with the original name. Until it succeeds, the service keeps its new name.
    @Test("A renamed service takes its original name when it is free, and is always discoverable", arguments: 0..<30)
    func aServiceGoesBackToItsNameWhenThatIsFree(seed: UInt64) throws {
        var link = TestLink(nodes: 3, seed: seed)
        link.send(.browse(BrowseID(rawValue: 1), "_smartplug._tcp"), to: 2)
        link.send(.register(id, try lamp(host: "plug-1", port: 9)), to: 0)
        link.run(for: .seconds(5))
        link.send(.register(id, try lamp(host: "plug-2", port: 1)), to: 1)
        link.run(for: .seconds(100))
        #expect(link.names == [0: "Lamp", 1: "Lamp (2)"])
        #expect(
            link.packets.contains { $0.sender == 1 && $0.time > .zero + .seconds(65) },
            "the node sent no packets to check the original name")
        // While the original name is in use, the node sends queries for it, and no probes.
        #expect(
            !link.packets.contains {
                $0.sender == 1 && $0.time > .zero + .seconds(60) && !$0.message.authorities.isEmpty
            })
        let taken = link.reports.filter {
            if case .nameTaken(_, "Lamp", _, .seconds(60)) = $0.action { true } else { false }
        }
        #expect(taken.map(\.node) == [1], "the conflict is reported once, by node 1")
        link.send(.unregister(id), to: 0)
        link.run(for: .seconds(10))
        link.dead = [0]
        link.run(for: .seconds(3600))
        #expect(link.names[1] == "Lamp")
        var there: Set<String> = []
        for (_, change) in link.changes(at: 2) {
            switch change {
            case .found(let identity, txt: _): there.insert(identity.name)
            case .lost(let identity):
                there.remove(identity.name)
                #expect(!there.isEmpty, "the service always has a name")
            case .changed: break
            }
        }
        #expect(there == ["Lamp"])
    }

    @Test("A renamed service that browses takes its original name at the first attempt, 80 s after it lost the name")
    func cachedRecordsDoNotKeepAName() throws {
        var link = TestLink(nodes: 2)
        link.send(.browse(BrowseID(rawValue: 1), "_ipp._tcp"), to: 1)
        link.send(.register(id, try lamp(host: "plug-1", port: 9)), to: 0)
        link.run(for: .seconds(5))
        link.send(.register(id, try lamp(host: "plug-2", port: 1)), to: 1)
        link.run(for: .seconds(1))
        #expect(link.names == [0: "Lamp", 1: "Lamp (2)"])
        link.dead = [0]
        link.run(until: .zero + .seconds(75))
        #expect(link.names[1] == "Lamp (2)")
        link.run(until: .zero + .seconds(90))
        #expect(link.names[1] == "Lamp")
    }

    @Test("A name that stays in use is tried about once per hour") func aNameThatStaysTakenIsTriedOnceAnHour() throws {
        var link = TestLink(nodes: 2)
        link.send(.register(id, try lamp(host: "plug-1", port: 9)), to: 0)
        link.run(for: .seconds(5))
        link.send(.register(id, try lamp(host: "plug-2", port: 1)), to: 1)
        link.run(for: .seconds(3 * 3600))
        let before = link.packets.count
        link.run(for: .seconds(10 * 3600))
        let probes = link.packets[before...].filter { $0.sender == 1 }
        #expect((10...40).contains(probes.count), "\(probes.count) packets in ten hours")
        #expect(link.names == [0: "Lamp", 1: "Lamp (2)"])
    }

    @Test("A TXT change during the probes of the original name is published under that name")
    func whatChangesWhileTheNameIsTriedIsSaidUnderIt() throws {
        var link = TestLink(nodes: 3)
        link.send(.browse(BrowseID(rawValue: 1), "_smartplug._tcp"), to: 2)
        link.send(.register(id, try lamp(host: "plug-1", port: 9)), to: 0)
        link.run(for: .seconds(5))
        link.send(.register(id, try lamp(host: "plug-2", port: 1)), to: 1)
        link.run(for: .seconds(5))
        link.send(.unregister(id), to: 0)
        // The change occurs during the probes.
        link.run(until: .zero + .seconds(85) + .milliseconds(700))
        link.send(.updateTXT(id, try TXTRecord(["txtvers": "1", "id": "new"])), to: 1)
        link.run(for: .seconds(200))
        #expect(link.names[1] == "Lamp")
        let said = link.changes(at: 2).compactMap { entry -> TXTRecord? in
            switch entry.change {
            case .found(let identity, let txt), .changed(let identity, let txt): identity.name == "Lamp" ? txt : nil
            case .lost: nil
            }
        }
        #expect(said.last?["id"] == "new")
    }

    @Test("A host name conflict renames the host, and the service points to the new name")
    func hostNamesAreRenamedTooAndTheServiceFollows() throws {
        var link = TestLink(nodes: 3)
        link.send(.register(id, try lamp("Lamp", port: 1)), to: 0)
        link.run(for: .seconds(5))
        link.send(.register(id, try lamp("Fan", port: 2)), to: 1)
        link.run(for: .seconds(5))
        link.send(.resolve(ResolveID(rawValue: 1), ServiceIdentity(name: "Fan", type: "_smartplug._tcp")), to: 2)
        link.run(for: .seconds(2))
        #expect(link.names == [0: "Lamp", 1: "Fan"])
        let resolved = link.reports.compactMap { report -> ResolvedService? in
            guard report.node == 2, case .resolved(_, let service) = report.action else { return nil }
            return service
        }
        #expect(resolved.last?.hostName == "plug-1a2b3c-2.local")
        #expect(resolved.last?.addresses == [.init(address: TestLink.address(of: 1), interface: 2)])
    }

    @Test("No SRV record points to a host name of a different host")
    func noServicePointsToAHostNameThatIsAnotherHosts() throws {
        var link = TestLink(nodes: 2, seed: 3)
        link.send(.register(id, try lamp("Lamp", port: 1)), to: 0)
        link.send(.register(id, try lamp("Fan", port: 2)), to: 1)
        link.run(for: .seconds(10))
        for packet in link.packets where packet.message.flags.contains(.response) {
            for record in packet.message.answers {
                guard case .srv(_, _, let port, let target) = record.data else { continue }
                let owner = link.packets.first { other in
                    other.message.flags.contains(.response) && other.message.answers.contains { $0.name == target }
                }
                #expect(owner?.sender == Int(port) - 1)
            }
        }
    }

    @Test("100 nodes with one name get unique names with a limited number of packets", arguments: 0..<3)
    func aHundredNodesOfOneNameEndUniqueWithABoundedNumberOfPackets(seed: UInt64) throws {
        var link = TestLink(nodes: 100, seed: seed)
        for node in 0..<100 {
            link.send(.register(id, try lamp(host: "plug-\(node)", port: UInt16(node + 1))), to: node)
        }
        link.run(for: .seconds(60))
        #expect(link.names.count == 100)
        #expect(Set(link.names.values).count == 100)
        #expect(link.packets.count < 100 * 40, "\(link.packets.count) packets")
        let settled = try #require(link.reports.last?.time)
        #expect(settled < Instant.zero + .seconds(45))
    }

    @Test("With 30 % packet loss all names become unique and are discovered", arguments: 0..<10)
    func thirtyPercentLossEndsUniqueAndDiscovered(seed: UInt64) throws {
        var link = TestLink(nodes: 8, seed: seed, loss: 0.3)
        link.send(.browse(BrowseID(rawValue: 1), "_smartplug._tcp"), to: 7)
        for node in 0..<7 {
            link.send(.register(id, try lamp(host: "plug-\(node)", port: UInt16(node + 1))), to: node)
        }
        link.run(for: .seconds(300))
        #expect(Set(link.names.values).count == 7)
        var found: Set<String> = []
        for (_, change) in link.changes(at: 7) {
            switch change {
            case .found(let identity, _): found.insert(identity.name)
            case .lost(let identity): found.remove(identity.name)
            case .changed: break
            }
        }
        #expect(found.isSuperset(of: link.names.values))
    }
}
