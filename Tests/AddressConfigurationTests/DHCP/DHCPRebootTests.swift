import DNSWire
@testable import AddressConfiguration
import ProtocolCore
import Testing

@Suite("A DHCP client with a remembered lease")
struct DHCPRebootTests {
    private let address = IPv4Address(10, 0, 0, 50)

    @Test("The remembered lease is requested at once with one message")
    func reboot() throws {
        var lab = DHCPLab(FakeServer(), remembered: address)
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.request])
        let message = lab.sent[0].message
        #expect(message.options.requestedAddress == address && message.options.serverIdentifier == nil)
        #expect(message.clientAddress == .any && lab.sent[0].destination == .broadcast)
        #expect(lab.checked.count == 1 && lab.bound.map(\.address) == [address])
    }

    @Test("An acknowledgement of any server is accepted")
    func otherServer() {
        var lab = DHCPLab(FakeServer(address: secondServer), remembered: address)
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.bound.map(\.server) == [secondServer])
    }

    @Test("After a refusal, the client searches for a different address at once")
    func refused() {
        var lab = DHCPLab(FakeServer(gives: IPv4Address(10, 0, 0, 60)), remembered: address)
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.request, .discover, .request])
        #expect(lab.sent[1].message.options.requestedAddress == nil)
        #expect(lab.bound.map(\.address) == [IPv4Address(10, 0, 0, 60)])
        #expect(lab.lost.isEmpty)
    }

    @Test("If two requests get no answer within five seconds, the client sends only discoveries")
    func unanswered() {
        var lab = DHCPLab(remembered: address)
        let start = lab.now
        lab.send(.linkUp(isPowerOn: false))
        lab.run(for: .seconds(3600))
        #expect(lab.types.prefix(3) == [.request, .request, .discover])
        #expect(lab.types.dropFirst(2).allSatisfy { $0 == .discover })
        #expect((.seconds(3)...(.seconds(5))).contains(lab.sent[2].time - start))
        #expect(lab.sent[2].message.options.requestedAddress == address)
        #expect(lab.bound.isEmpty)
    }

    @Test("The remembered address is declined if a different host has it")
    func conflict() {
        var lab = DHCPLab(FakeServer(), remembered: address)
        lab.taken = [address]
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.request, .decline])
        lab.run(for: .seconds(11))
        #expect(lab.types == [.request, .decline, .discover])
        #expect(lab.sent[2].message.options.requestedAddress == nil)
    }
}

@Suite("Link changes of a DHCP client with a lease")
struct DHCPLinkTests {
    private let address = IPv4Address(10, 0, 0, 50)

    @Test("A lost link ends the lease, and the returning link causes one request for the same address")
    func lostAndBack() {
        var lab = DHCPLab.bound()
        lab.send(.linkDown)
        #expect(lab.lost == [.linkLost] && lab.client.lease == nil && lab.client.nextDeadline == nil)
        #expect(lab.client.status == .off)
        lab.run(for: .seconds(60))
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.request])
        #expect(lab.checked.count == 1 && lab.bound.map(\.address) == [address])
        #expect(lab.lost == [.linkLost])
    }

    @Test("A different network results in a new lease")
    func otherNetwork() {
        var lab = DHCPLab.bound()
        lab.send(.linkDown)
        lab.servers = [FakeServer(address: secondServer, gives: IPv4Address(10, 0, 0, 99))]
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.request, .discover, .request])
        #expect(lab.bound.map(\.address) == [IPv4Address(10, 0, 0, 99)])
    }

    @Test("Without a server, a returning link brings no lease")
    func nobody() {
        var lab = DHCPLab.bound()
        lab.send(.linkDown)
        lab.servers = []
        lab.send(.linkUp(isPowerOn: false))
        lab.run(for: .seconds(600))
        #expect(lab.bound.isEmpty && lab.lost == [.linkLost])
    }

    @Test("If the lease expired without a link, the client searches again and requests its old address")
    func expired() {
        var lab = DHCPLab.bound()
        lab.send(.linkDown)
        lab.run(for: .seconds(3600))
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.discover, .request])
        #expect(lab.sent[0].message.options.requestedAddress == address)
    }

    @Test("A second linkUp counts as a new link")
    func upTwice() {
        var lab = DHCPLab.bound()
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.lost == [.linkLost] && lab.types == [.request] && lab.bound.count == 1)
    }

    @Test("After a suspend the lease is requested again, and an expired one is lost")
    func resumed() {
        var lab = DHCPLab.bound()
        lab.now = lab.now + .seconds(600)
        lab.send(.resumed)
        #expect(lab.lost == [.linkLost] && lab.types == [.request] && lab.bound.count == 1)
        lab.forget()
        lab.now = lab.now + .seconds(4000)
        lab.send(.resumed)
        #expect(lab.lost == [.expired] && lab.types == [.discover, .request] && lab.bound.count == 1)
        lab.send(.linkDown)
        lab.forget()
        lab.send(.resumed)
        #expect(lab.sent.isEmpty)
    }

    @Test("A link that is lost during a check leaves no lease in use")
    func lostWhileChecking() {
        var lab = DHCPLab(FakeServer())
        lab.probes = false
        lab.send(.linkUp(isPowerOn: false))
        lab.send(.linkDown)
        lab.send(.addressChecked)
        #expect(lab.bound.isEmpty && lab.lost.isEmpty)
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.discover, .request, .request])
    }

    @Test("A link that is lost five times per second causes at most 922 messages per hour")
    func flapping() {
        var lab = DHCPLab(FakeServer())
        for _ in 0..<18_000 {
            lab.send(.linkUp(isPowerOn: false))
            lab.run(for: .milliseconds(100))
            lab.send(.linkDown)
            lab.run(for: .milliseconds(100))
        }
        // The first 20 starts of the client begin without delay, each at its linkUp. Later starts are four seconds
        // apart. The first start sends two messages.
        #expect((500...922).contains(lab.sent.count))
    }
}
