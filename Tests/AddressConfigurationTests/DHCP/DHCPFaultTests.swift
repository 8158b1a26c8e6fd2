import DNSWire
import LinkWire
import ProtocolCore
import Testing

@testable import AddressConfiguration

@Suite("A faulty DHCP server")
struct DHCPFaultTests {
    private let address = IPv4Address(10, 0, 0, 50)

    /// Messages in each of the given hours.
    private func messages(_ lab: inout DHCPLab, hours: Int) -> [Int] {
        (0..<hours).map { _ in
            let before = lab.sent.count
            lab.run(for: .seconds(3600))
            return lab.sent.count - before
        }
    }

    @Test("that refuses all that it offers is no storm, and hinders no other")
    func alwaysRefuses() {
        var rogue = FakeServer(address: secondServer, gives: IPv4Address(10, 0, 0, 66))
        rogue.refuses = true
        var lab = DHCPLab(rogue)
        lab.send(.linkUp(isPowerOn: false))
        #expect(lab.types == [.discover, .request, .discover])
        for count in messages(&lab, hours: 3) { #expect((20...130).contains(count)) }
        #expect(lab.bound.isEmpty)
        lab.servers.append(FakeServer())
        lab.run(for: .seconds(130))
        #expect(lab.bound.map(\.server) == [firstServer])
    }

    @Test("that refuses the remembered address, and then all, is no storm")
    func refusesReboots() {
        var rogue = FakeServer(address: secondServer)
        rogue.refuses = true
        var lab = DHCPLab(rogue, remembered: address)
        lab.send(.linkUp(isPowerOn: false))
        for count in messages(&lab, hours: 2) { #expect(count < 130) }
    }

    @Test("that acknowledges and then refuses each renewal is no storm")
    func refusesRenewals() {
        var lab = DHCPLab(FakeServer(seconds: 10))
        lab.servers[0].distort = { reply in
            // A renewal's xid is new; the offer's comes a second time.
            if reply.options.messageType == .ack, reply.transaction % 2 == 0 { reply.options.messageType = .nak }
        }
        lab.send(.linkUp(isPowerOn: false))
        for count in messages(&lab, hours: 3) { #expect(count < 800) }
    }

    @Test("whose pool is exhausted is asked at a low rate until it has an address")
    func exhausted() {
        var lab = DHCPLab(FakeServer())
        lab.servers[0].answers = []
        lab.send(.linkUp(isPowerOn: false))
        lab.run(for: .seconds(7200))
        #expect(lab.sent.count < 125 && lab.bound.isEmpty)
        lab.servers[0].answers = [.discover, .request]
        lab.run(for: .seconds(65))
        #expect(lab.bound.count == 1)
    }

    @Test("that gives leases of a second, and is gone, is no storm")
    func shortLeases() {
        var lab = DHCPLab(FakeServer(seconds: 1))
        lab.servers[0].distort = {
            $0.options.renewalTime = 0
            $0.options.rebindingTime = 0
        }
        lab.send(.linkUp(isPowerOn: false))
        // It is renewed as long as the server agrees, twice in the ten seconds that the client takes it for.
        for count in messages(&lab, hours: 1) { #expect((700...770).contains(count)) }
        // Renewals go to the server alone: nobody hears those of one that only offers.
        lab.servers[0].answers = [.discover]
        for count in messages(&lab, hours: 2) { #expect(count < 300) }
    }

    @Test("that answers with an acknowledgement twice is understood once")
    func duplicates() throws {
        var lab = DHCPLab(FakeServer())
        lab.send(.linkUp(isPowerOn: false))
        let ack = FakeServer().reply(.ack, to: try #require(lab.sent.last).message)
        lab.receive(ack)
        lab.receive(ack)
        #expect(lab.bound.count == 1 && lab.checked.count == 1 && lab.sent.count == 2)
        lab.receive(FakeServer().reply(.nak, to: try #require(lab.sent.last).message))
        #expect(lab.lost.isEmpty)
    }

    @Test("that answers somebody else, or something else, is not listened to")
    func notForUs() throws {
        var lab = DHCPLab()
        lab.send(.linkUp(isPowerOn: false))
        let discover = try #require(lab.sent.first).message
        let wrong: [(inout DHCPMessage) -> Void] = [
            { $0.transaction &+= 1 }, { $0.clientHardware = MACAddress(2, 0, 0, 0, 0, 9) },
            { $0.operation = .request }, { $0.options.messageType = .ack }, { $0.options.messageType = .nak },
            { $0.options.messageType = nil }, { $0.options.serverIdentifier = nil }, { $0.yourAddress = .any },
            { $0.yourAddress = .broadcast }, { $0.yourAddress = IPv4Address(169, 254, 4, 4) },
            { $0.options.leaseTime = nil },
        ]
        for change in wrong {
            var reply = FakeServer().reply(.offer, to: discover)
            change(&reply)
            lab.receive(reply)
        }
        #expect(lab.types == [.discover])
        lab.receive(FakeServer().reply(.offer, to: discover))
        #expect(lab.types == [.discover, .request])
    }

    @Test("that was not asked can neither give nor refuse what another one offered")
    func wrongServer() throws {
        var lab = DHCPLab(FakeServer())
        lab.servers[0].answers = [.discover]
        lab.send(.linkUp(isPowerOn: false))
        let request = try #require(lab.sent.last).message
        let other = FakeServer(address: secondServer)
        for type in [DHCPMessageType.ack, .nak, .offer] { lab.receive(other.reply(type, to: request)) }
        var otherAddress = FakeServer().reply(.ack, to: request)
        otherAddress.yourAddress = IPv4Address(10, 0, 0, 51)
        lab.receive(otherAddress)
        var nameless = FakeServer().reply(.nak, to: request)
        nameless.options.serverIdentifier = nil
        lab.receive(nameless)
        #expect(lab.types == [.discover, .request] && lab.checked.isEmpty)
        lab.receive(FakeServer().reply(.ack, to: request))
        #expect(lab.bound.count == 1)
    }

    @Test("that puts its options where the boot file and its own name belong is understood")
    func overloaded() throws {
        var lab = DHCPLab()
        lab.send(.linkUp(isPowerOn: false))
        let discover = try #require(lab.sent.first).message
        var bytes = DHCPMessage(
            operation: .reply, transaction: discover.transaction, yourAddress: address, clientHardware: ownCard
        ).encoded
        bytes.replaceSubrange(44..<51, with: [54, 4, 10, 0, 0, 1, 255])
        bytes.replaceSubrange(108..<121, with: [51, 4, 0, 0, 1, 0, 3, 4, 10, 0, 0, 1, 255])
        bytes.replaceSubrange(240..<247, with: [53, 1, 2, 52, 1, 3, 255])
        lab.receive(try DHCPMessage(decoding: bytes))
        #expect(lab.types == [.discover, .request])
    }

    @Test("with a malformed option gives what the others say")
    func malformedOption() throws {
        var lab = DHCPLab(FakeServer())
        lab.servers[0].distort = {
            $0.options[.renewalTime] = [1, 2, 3]
            $0.options[.domainNameServers] = [10, 0, 0]
            $0.options[.subnetMask] = [255]
        }
        lab.send(.linkUp(isPowerOn: false))
        let lease = try #require(lab.bound.first)
        #expect(lease.prefixLength == 8 && lease.servers.nameServers.isEmpty && lease.routers == [firstServer])
    }

    @Test("whose acknowledgement comes after the lease's end gives nothing")
    func lateAcknowledgement() throws {
        var lab = DHCPLab(FakeServer(seconds: 10))
        lab.servers[0].answers = [.discover]
        lab.send(.linkUp(isPowerOn: false))
        let request = try #require(lab.sent.last).message
        lab.now = lab.now + .seconds(11)
        lab.receive(lab.servers[0].reply(.ack, to: request))
        #expect(lab.checked.isEmpty)
    }
}
