import DNSWire
@testable import AddressConfiguration
import ProtocolCore
import Testing

@Suite("Faulty DHCP servers")
struct DHCPFaultTests {
    private let address = IPv4Address(10, 0, 0, 50)

    /// Returns the number of messages in each of the hours.
    private func messages(_ lab: inout DHCPLab, hours: Int) -> [Int] {
        (0..<hours).map { _ in
            let before = lab.sent.count
            lab.run(for: .seconds(3600))
            return lab.sent.count - before
        }
    }

    @Test("A server that refuses every request gets at most 130 messages per hour and does not block other servers")
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

    @Test("A server that refuses the remembered address and all others gets fewer than 130 messages per hour")
    func refusesReboots() {
        var rogue = FakeServer(address: secondServer)
        rogue.refuses = true
        var lab = DHCPLab(rogue, remembered: address)
        lab.send(.linkUp(isPowerOn: false))
        for count in messages(&lab, hours: 2) { #expect(count < 130) }
    }

    @Test("A server that acknowledges or refuses renewals at random gets fewer than 800 messages per hour")
    func refusesRenewals() {
        var lab = DHCPLab(FakeServer(seconds: 10))
        lab.servers[0].distort = { reply in
            // Each renewal has a new random transaction id, so about half of the acknowledgements become refusals.
            if reply.options.messageType == .ack, reply.transaction % 2 == 0 { reply.options.messageType = .nak }
        }
        lab.send(.linkUp(isPowerOn: false))
        for count in messages(&lab, hours: 3) { #expect(count < 800) }
    }

    @Test("A server whose pool is exhausted is asked at a low rate until it has an address")
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

    @Test("Leases of one second cause at most 770 messages per hour, and fewer than 300 if the server ignores requests")
    func shortLeases() {
        var lab = DHCPLab(FakeServer(seconds: 1))
        lab.servers[0].distort = {
            $0.options.renewalTime = 0
            $0.options.rebindingTime = 0
        }
        lab.send(.linkUp(isPowerOn: false))
        // The client treats a lease of one second as one of ten seconds, and renews it after about five seconds.
        for count in messages(&lab, hours: 1) { #expect((700...770).contains(count)) }
        // Renewals go only to the server of the lease. The server now answers only discoveries and ignores renewals.
        lab.servers[0].answers = [.discover]
        for count in messages(&lab, hours: 2) { #expect(count < 300) }
    }

    @Test("A repeated acknowledgement is handled once")
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

    @Test("A reply for a different host, of a wrong type, or with missing or invalid data is ignored")
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

    @Test("After a request to one server, acknowledgements and refusals of a different server are ignored")
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

    @Test("Options in the fields of the boot file and the server name are decoded")
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

    @Test("A malformed option does not affect the other options")
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

    @Test("An acknowledgement that arrives after the end of the lease is ignored")
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
