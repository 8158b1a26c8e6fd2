import DNSWire
@testable import AddressConfiguration
import ProtocolCore
import Testing

@Suite("A DHCP lease")
struct DHCPRenewalTests {
    private let address = IPv4Address(10, 0, 0, 50)

    @Test("A lease is renewed with its server at half of its time, up to 5 % earlier", arguments: 1...20)
    func renewal(seed: UInt64) throws {
        var lab = DHCPLab.bound(seed: seed)
        let start = lab.now
        lab.run(for: .seconds(1800))
        #expect(lab.types == [.request])
        let renewal = try #require(lab.sent.first)
        #expect((.seconds(1710)...(.seconds(1800))).contains(renewal.time - start))
        #expect(renewal.destination == firstServer)
        #expect(renewal.message.clientAddress == address)
        #expect(renewal.message.options.requestedAddress == nil)
        #expect(renewal.message.options.serverIdentifier == nil)
        #expect(lab.bound.map(\.obtained) == [renewal.time])
        #expect(lab.checked.isEmpty && lab.lost.isEmpty)
    }

    @Test("A lease of one hour is renewed 1440 to 1516 times in 30 days")
    func forLong() {
        var lab = DHCPLab.bound()
        lab.run(for: .seconds(30 * 24 * 3600))
        #expect((1440...1516).contains(lab.sent.count))
        #expect(lab.bound.count == lab.sent.count && lab.lost.isEmpty)
    }

    @Test("An unanswered renewal is retried with its server, then with any server, until the lease expires")
    func serverGone() throws {
        var lab = DHCPLab.bound()
        let lease = try #require(lab.client.lease)
        lab.servers = []
        let start = lab.now
        lab.run(for: .seconds(3599.9))
        let rebinding = try #require(lease.rebinding)
        let renewals = lab.sent.prefix { $0.time - start < rebinding }
        let rebindings = lab.sent.dropFirst(renewals.count)
        #expect(renewals.allSatisfy { $0.destination == firstServer && $0.message.clientAddress == address })
        #expect(rebindings.allSatisfy { $0.destination == .broadcast && $0.message.clientAddress == address })
        for (tries, end) in [(Array(renewals), rebinding), (Array(rebindings), .seconds(3600))] {
            #expect((4...6).contains(tries.count))
            for (one, next) in zip(tries, tries.dropFirst()) {
                let left = end - (one.time - start)
                #expect(abs((next.time - one.time - max(left / 2, .seconds(60))).inSeconds) < 0.001)
            }
        }
        #expect(Set(lab.sent.map(\.message.transaction)).count == lab.sent.count)
        #expect(
            zip(lab.sent, lab.sent.dropFirst()).allSatisfy { $0.message.secondsElapsed <= $1.message.secondsElapsed })
        #expect(lab.lost.isEmpty && lab.client.lease != nil)
        lab.run(for: .seconds(0.1))
        #expect(lab.lost == [.expired] && lab.client.lease == nil)
        #expect(lab.types.last == .discover)
        #expect(lab.sent.last?.message.options.requestedAddress == address)
        #expect(lab.sent.last?.message.clientAddress == .any)
    }

    @Test("A different server can take over the lease at T2")
    func takenOver() throws {
        var lab = DHCPLab.bound()
        lab.servers = [FakeServer(address: secondServer)]
        lab.run(for: .seconds(3600))
        #expect(lab.bound.map(\.server) == [secondServer])
        #expect(lab.lost.isEmpty && lab.checked.isEmpty)
    }

    @Test("A refused renewal ends the lease, and the client searches again at once")
    func refused() {
        var lab = DHCPLab.bound()
        lab.servers = [FakeServer(gives: IPv4Address(10, 0, 0, 51))]
        lab.run(for: .seconds(1800))
        #expect(lab.lost == [.refused])
        #expect(lab.types == [.request, .discover, .request])
        #expect(lab.bound.map(\.address) == [IPv4Address(10, 0, 0, 51)])
    }

    @Test("A different server cannot refuse a renewal")
    func refusedByAnother() throws {
        var lab = DHCPLab.bound()
        lab.servers = []
        lab.advance()
        let rogue = FakeServer(address: secondServer)
        lab.receive(rogue.reply(.nak, to: try #require(lab.sent.first).message))
        lab.receive(rogue.reply(.ack, to: try #require(lab.sent.first).message))
        #expect(lab.lost.isEmpty && lab.bound.isEmpty)
        lab.receive(FakeServer().reply(.nak, to: try #require(lab.sent.first).message))
        #expect(lab.lost == [.refused])
    }

    @Test("A renewal updates the data of the network")
    func changes() {
        var lab = DHCPLab.bound()
        lab.servers[0].distort = { $0.options.domainNameServers = [secondServer] }
        lab.run(for: .seconds(1800))
        #expect(lab.bound.map(\.servers.nameServers) == [[secondServer]])
    }

    @Test("A renewal cannot change the address")
    func otherAddress() throws {
        var lab = DHCPLab.bound()
        lab.servers[0].distort = { $0.yourAddress = IPv4Address(10, 0, 0, 77) }
        lab.run(for: .seconds(1800))
        #expect(lab.types == [.request] && lab.bound.isEmpty && lab.client.lease?.address == address)
    }

    @Test("A lease whose address cannot be defended is declined and lost")
    func conflict() {
        var lab = DHCPLab.bound()
        lab.send(.addressInConflict)
        #expect(lab.lost == [.conflict] && lab.types == [.decline])
        #expect(lab.client.lease == nil)
        lab.run(for: .seconds(10))
        #expect(lab.types == [.decline, .discover])
    }

    @Test("An unlimited lease is never renewed")
    func forEver() {
        var lab = DHCPLab.bound(FakeServer(seconds: 0xFFFF_FFFF))
        #expect(lab.client.nextDeadline == nil)
        #expect(lab.client.lease?.expires == nil && lab.client.lease?.duration == nil)
        lab.run(for: .seconds(1_000_000_000))
        #expect(lab.sent.isEmpty && lab.client.lease != nil)
    }

    @Test("A lease that expired during a long delay is lost at once")
    func longSleep() {
        var lab = DHCPLab.bound()
        lab.servers = []
        lab.now = lab.now + .seconds(5000)
        lab.send(.deadlineReached)
        #expect(lab.lost == [.expired] && lab.types == [.discover])
    }

    @Test("A lease expires without being used if the check of its address never ends")
    func unchecked() {
        var lab = DHCPLab(FakeServer())
        lab.probes = false
        lab.send(.linkUp(isPowerOn: false))
        lab.run(for: .seconds(3599))
        #expect(lab.types == [.discover, .request])
        lab.run(for: .seconds(2))
        #expect(lab.types.dropFirst(2).first == .discover && lab.lost.isEmpty && lab.bound.isEmpty)
    }
}
