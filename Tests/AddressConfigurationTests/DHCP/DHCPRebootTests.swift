import DNSWire
import LinkWire
import ProtocolCore
import Testing

@testable import AddressConfiguration

@Suite("A DHCP client that remembers a lease")
struct DHCPRebootTests {
    private let address = IPv4Address(10, 0, 0, 50)

    @Test("asks for it with one message, at once")
    func reboot() throws {
        var lab = DHCPLab(FakeServer(), remembered: address)
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.request])
        let message = lab.sent[0].message
        #expect(message.options.requestedAddress == address && message.options.serverIdentifier == nil)
        #expect(message.clientAddress == .any && lab.sent[0].destination == .broadcast)
        #expect(lab.checked.count == 1 && lab.bound.map(\.address) == [address])
    }

    @Test("takes the word of any server for it")
    func otherServer() {
        var lab = DHCPLab(FakeServer(address: secondServer), remembered: address)
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.bound.map(\.server) == [secondServer])
    }

    @Test("looks for another address at once when it is refused")
    func refused() {
        var lab = DHCPLab(FakeServer(gives: IPv4Address(10, 0, 0, 60)), remembered: address)
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.request, .discover, .request])
        #expect(lab.sent[1].message.options.requestedAddress == nil)
        #expect(lab.bound.map(\.address) == [IPv4Address(10, 0, 0, 60)])
        #expect(lab.lost.isEmpty)
    }

    @Test("looks for any address when nobody answers two requests within five seconds, and goes on for ever")
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

    @Test("declines it when somebody has it meanwhile")
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

@Suite("The link under a lease")
struct DHCPLinkTests {
    private let address = IPv4Address(10, 0, 0, 50)

    @Test("that is lost takes it away, and brings it back when a server agrees")
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

    @Test("that is another network brings another lease")
    func otherNetwork() {
        var lab = DHCPLab.bound()
        lab.send(.linkDown)
        lab.servers = [FakeServer(address: secondServer, gives: IPv4Address(10, 0, 0, 99))]
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.request, .discover, .request])
        #expect(lab.bound.map(\.address) == [IPv4Address(10, 0, 0, 99)])
    }

    @Test("without a server brings no lease: it may be another network")
    func nobody() {
        var lab = DHCPLab.bound()
        lab.send(.linkDown)
        lab.servers = []
        lab.send(.linkUp(isPowerOn: false))
        lab.run(for: .seconds(600))
        #expect(lab.bound.isEmpty && lab.lost == [.linkLost])
    }

    @Test("that comes back after the lease's end brings any address, the old one if it is free")
    func expired() {
        var lab = DHCPLab.bound()
        lab.send(.linkDown)
        lab.run(for: .seconds(3600))
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.discover, .request])
        #expect(lab.sent[0].message.options.requestedAddress == address)
    }

    @Test("that comes up twice is another one")
    func upTwice() {
        var lab = DHCPLab.bound()
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.lost == [.linkLost] && lab.types == [.request] && lab.bound.count == 1)
    }

    @Test("that was asleep is asked for the lease again; one that ended meanwhile is lost")
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

    @Test("that is lost during a check leaves nothing in use")
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

    @Test("that comes and goes five times a second is no storm")
    func flapping() {
        var lab = DHCPLab(FakeServer())
        for _ in 0..<18_000 {
            lab.send(.linkUp(isPowerOn: false))
            lab.run(for: .milliseconds(100))
            lab.send(.linkDown)
            lab.run(for: .milliseconds(100))
        }
        // An hour: 20 at once, then one in four seconds; the first of them was two messages.
        #expect((500...922).contains(lab.sent.count))
    }
}
