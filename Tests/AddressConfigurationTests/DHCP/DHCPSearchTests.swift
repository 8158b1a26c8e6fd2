import DNSWire
@testable import AddressConfiguration
import ProtocolCore
import Testing

@Suite("A DHCP client without a lease")
struct DHCPSearchTests {
    @Test("If the link comes up without a power-on, the client gets a lease at once and checks its address before use")
    func fourMessages() throws {
        var lab = DHCPLab(FakeServer())
        lab.probes = false
        #expect(lab.client.status == .off)
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.discover, .request])
        #expect(lab.checked.map(\.address) == [IPv4Address(10, 0, 0, 50)])
        #expect(lab.bound.isEmpty && lab.client.lease == nil && lab.client.status == .searching)
        lab.send(.addressChecked)
        let lease = try #require(lab.bound.first)
        #expect(lab.bound.count == 1 && lab.client.lease == lease)
        #expect(lease.server == firstServer && lease.prefixLength == 24 && lease.routers == [firstServer])
        #expect(lease.obtained == lab.now && lease.duration == .seconds(3600))
        #expect(
            lab.client.status
                == .leased(
                    AddressingStatus.Lease(
                        address: lease.address, prefixLength: 24, server: firstServer, router: firstServer,
                        expires: lab.now + .seconds(3600))))
    }

    @Test("Each message contains the identity and the requests of the client")
    func messages() throws {
        var lab = DHCPLab(FakeServer(), remembered: IPv4Address(10, 0, 0, 50))
        lab.servers[0].answers = [.discover]
        lab.send(.linkUp(isPowerOn: false))
        lab.run(for: .seconds(6))
        #expect(lab.types == [.request, .request, .discover, .request])
        for message in lab.sent.map(\.message) {
            #expect(message.operation == .request && message.clientHardware == ownCard && !message.wantsBroadcast)
            #expect(message.clientAddress == .any && message.options.clientIdentifier == [255, 1, 2, 3, 4])
            #expect(message.options.hostName == "plug-012345" && message.options.vendorClass == "smartplug")
            #expect(message.options.maximumMessageSize == 1472)
            #expect(
                message.options[.parameterRequestList] == [1, 3, 6, 15, 28, 42, 51, 54, 58, 59, 119, 121])
            #expect(message.options.requestedAddress == IPv4Address(10, 0, 0, 50))
        }
        let (reboot, discover, request) = (lab.sent[0].message, lab.sent[2].message, lab.sent[3].message)
        #expect(reboot.options.serverIdentifier == nil && discover.options.serverIdentifier == nil)
        #expect(request.options.serverIdentifier == firstServer)
        #expect(discover.transaction == request.transaction && discover.transaction != reboot.transaction)
        // The seconds of the DISCOVER are repeated in its REQUEST (RFC 2131 §4.4.1).
        #expect(discover.secondsElapsed > 0 && request.secondsElapsed == discover.secondsElapsed)
        #expect(reboot.secondsElapsed == 0)
    }

    @Test("A host name of invalid length is not sent", arguments: ["", String(repeating: "a", count: 64)])
    func hostName(name: String) {
        var client = DHCPClient(
            configuration: DHCPClient.Configuration(
                hardwareAddress: ownCard, hostName: name, clientIdentifier: [255, 1], remembered: nil, seed: 1))
        let actions = client.handle(.linkUp(isPowerOn: false), now: .zero)
        guard case .broadcast(let message)? = actions.first else {
            Issue.record("nothing was sent")
            return
        }
        #expect(message.options[.hostName] == nil)
    }

    @Test("The client repeats its message after 4, 8, 16, 32 and 64 s, each ±1 s, then every 64 s", arguments: 1...20)
    func retransmission(seed: UInt64) {
        var lab = DHCPLab(seed: seed)
        lab.send(.linkUp(isPowerOn: false))
        lab.run(for: .seconds(3600))
        let gaps = zip(lab.sent, lab.sent.dropFirst()).map { ($1.time - $0.time).inSeconds }
        for (gap, expected) in zip(gaps, [4, 8, 16, 32] + [Double](repeating: 64, count: 99)) {
            #expect(abs(gap - expected) <= 1)
        }
        #expect((59...61).contains(lab.sent.count))
        #expect(Set(lab.sent.map(\.message.transaction)).count == 1)
        #expect(lab.sent.last.map { $0.message.secondsElapsed > 3500 } == true)
        // The jitter must vary.
        #expect(Set(gaps).count == gaps.count)
    }

    @Test("After power-on each client waits for a random time of up to one second")
    func spread() {
        let waits = (UInt64(1)...200).map { seed in
            var lab = DHCPLab(seed: seed)
            let start = lab.now
            lab.send(.linkUp(isPowerOn: true))
            lab.advance()
            return (lab.sent[0].time - start).inSeconds
        }
        #expect(waits.allSatisfy { (0...1).contains($0) })
        for tenth in 0..<10 {
            let count = waits.filter { $0 * 10 >= Double(tenth) && $0 * 10 < Double(tenth + 1) }.count
            #expect((5...40).contains(count))
        }
    }

    @Test("The first valid offer is accepted and no other")
    func firstOffer() {
        var second = FakeServer(address: secondServer, gives: IPv4Address(10, 0, 0, 60))
        second.answers = [.discover]
        var lab = DHCPLab(FakeServer(), second)
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.discover, .request])
        #expect(lab.bound.map(\.server) == [firstServer])
    }

    @Test("A request without an acknowledgement is repeated, then a different server is tried")
    func silentServer() throws {
        var silent = FakeServer(address: secondServer, gives: IPv4Address(10, 0, 0, 60))
        silent.answers = [.discover]
        var lab = DHCPLab(silent)
        lab.send(.linkUp(isPowerOn: false))
        lab.servers.append(FakeServer())
        lab.run(for: .seconds(30))
        #expect(lab.types == [.discover, .request, .request, .discover, .request])
        #expect(lab.sent[1].message == lab.sent[2].message)
        let lease = try #require(lab.bound.first)
        #expect(lease.server == firstServer)
        #expect(lease.obtained - lab.sent[0].time <= .seconds(14))
    }

    @Test("An offer of a server that has ignored a request is accepted if no other server answers")
    func onlyServer() {
        var lab = DHCPLab(FakeServer())
        lab.servers[0].answers = [.discover]
        lab.send(.linkUp(isPowerOn: false))
        lab.run(for: .seconds(14))
        lab.servers[0].answers = [.discover, .request]
        lab.run(for: .seconds(30))
        #expect(lab.bound.count == 1)
    }

    @Test("The lease time counts from the request, not from the start of the search")
    func lateOffer() throws {
        var lab = DHCPLab()
        lab.send(.linkUp(isPowerOn: false))
        lab.run(for: .seconds(2))
        let asked = lab.now
        lab.servers = [FakeServer()]
        lab.receive(FakeServer().reply(.offer, to: try #require(lab.sent.first).message))
        #expect(lab.bound.map(\.obtained) == [asked])
    }

    @Test("The lease time counts from the first request, even if a later one was answered")
    func obtained() throws {
        var lab = DHCPLab(FakeServer())
        lab.servers[0].answers = [.discover]
        lab.send(.linkUp(isPowerOn: false))
        let asked = lab.now
        lab.servers[0].answers = [.discover, .request]
        lab.run(for: .seconds(6))
        #expect(lab.types == [.discover, .request, .request])
        #expect(lab.bound.map(\.obtained) == [asked])
    }

    @Test("An address that a different host has is declined, and after 10 s a new one is requested")
    func conflict() {
        var lab = DHCPLab(FakeServer())
        lab.taken = [IPv4Address(10, 0, 0, 50)]
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.discover, .request, .decline])
        let decline = lab.sent[2].message
        #expect(decline.options.codes == [.messageType, .clientIdentifier, .requestedAddress, .serverIdentifier])
        #expect(decline.options.requestedAddress == IPv4Address(10, 0, 0, 50))
        #expect(decline.options.serverIdentifier == firstServer)
        #expect(decline.clientAddress == .any && decline.secondsElapsed == 0)
        #expect(lab.bound.isEmpty && lab.lost.isEmpty)
        lab.servers[0].gives = IPv4Address(10, 0, 0, 51)
        lab.run(for: .seconds(9.9))
        #expect(lab.sent.count == 3)
        lab.run(for: .seconds(0.1))
        #expect(lab.bound.map(\.address) == [IPv4Address(10, 0, 0, 51)])
    }

    @Test("A declined address is not requested again for ten minutes, although the server still offers it")
    func stubbornOffer() {
        var lab = DHCPLab(FakeServer())
        lab.taken = [IPv4Address(10, 0, 0, 50)]
        lab.send(.linkUp(isPowerOn: false))
        lab.run(for: .seconds(590))
        #expect(lab.types.filter { $0 == .request || $0 == .decline }.count == 2)
        #expect(lab.sent.count < 18)
        lab.run(for: .seconds(7200))
        // The address is tried again every ten minutes, because its owner may have disappeared.
        #expect((9...14).contains(lab.types.filter { $0 == .decline }.count))
        lab.taken = []
        lab.run(for: .seconds(700))
        #expect(lab.bound.count == 1)
    }
}
