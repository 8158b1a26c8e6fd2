import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SleepProxy
import Testing

/// Registrations that must obtain nothing: no record, no answer to ARP, and no change of other sleepers.
@Suite("Forged and excessive registrations")
struct ForgeryTests {
    private let attacker = TestSleeper()

    /// Sends a registration, and returns the reasons of refusals after two seconds.
    private func refusals(
        _ link: inout VirtualLink, _ event: SleepProxy.Event, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [RefusalReason] {
        let before = link.published
        link.handle(event)
        link.run(.seconds(2))
        let actions = link.takeActions()
        #expect(actions.answers.filter(\.isSuccess).isEmpty, sourceLocation: sourceLocation)
        #expect(link.published == before, sourceLocation: sourceLocation)
        return actions.refusals
    }

    private func refusals(of event: SleepProxy.Event, hosts: [VirtualLink.Host]) -> [RefusalReason] {
        var link = VirtualLink()
        link.hosts = hosts
        return refusals(&link, event)
    }

    private func address(_ address: IPAddress) -> SleepProxy.Event {
        let record = Record(name: attacker.host, isCacheFlush: true, timeToLive: 120, data: RecordData(address))
        return attacker.event(attacker.records + [record])
    }

    @Test("The plug's own address is refused") func ownAddress() {
        #expect(refusals(of: address(.v4(VirtualLink.plugV4)), hosts: [attacker.machine]) == [.ownAddress])
        #expect(refusals(of: address(.v6(VirtualLink.plugV6)), hosts: [attacker.machine]) == [.ownAddress])
    }

    @Test("The router's address is refused") func router() {
        #expect(refusals(of: address(.v4(VirtualLink.router)), hosts: [attacker.machine]) == [.infrastructureAddress])
    }

    @Test("The address of a different host that answers is refused") func addressOfAnswering() {
        var victim = TestSleeper.numbered(40).machine
        victim.addresses = [.v4(192, 168, 1, 40)]
        #expect(
            refusals(of: address(.v4(192, 168, 1, 40)), hosts: [attacker.machine, victim]) == [.answerOfAnotherCard])
        // Both cards answer, the attacker's first.
        var liar = attacker.machine
        liar.addresses.append(.v4(192, 168, 1, 40))
        #expect(refusals(of: address(.v4(192, 168, 1, 40)), hosts: [liar, victim]) == [.answerOfAnotherCard])
    }

    @Test("An address that does not answer is refused") func unansweredAddress() {
        #expect(refusals(of: address(.v4(192, 168, 1, 41)), hosts: [attacker.machine]) == [.noAnswer])
    }

    @Test("A name of the plug is refused") func ownName() {
        var forged = attacker
        forged.name = "plug"
        #expect(refusals(of: forged.event(), hosts: [attacker.machine]) == [.ownName])
    }

    @Test("A name that a different host announced is refused") func nameOfOther() {
        var link = VirtualLink()
        link.hosts = [attacker.machine]
        link.handle(attacker.announcement(from: .v4(192, 168, 1, 40)))
        #expect(refusals(&link, attacker.event()) == [.nameOfAnotherHost])
    }

    @Test("A name of a different sleeper is refused") func nameOfSleeper() {
        var link = VirtualLink()
        link.putToSleep(.numbered(40))
        var forged = attacker
        forged.name = "host40"
        link.hosts.append(attacker.machine)
        _ = link.takeActions()
        #expect(refusals(&link, forged.event()) == [.nameOfAnotherSleeper])
        #expect(link.state(of: .numbered(40)) == .asleep)
    }

    @Test("An address of a different sleeper is refused") func addressOfSleeper() {
        var link = VirtualLink()
        link.putToSleep(.numbered(40))
        link.hosts.append(attacker.machine)
        _ = link.takeActions()
        #expect(refusals(&link, address(.v4(192, 168, 1, 40))) == [.addressOfAnotherSleeper])
    }

    @Test("A registration with a sleeper's identity from a different card changes nothing") func otherCard() {
        let victim = TestSleeper.numbered(40)
        var link = VirtualLink()
        link.putToSleep(victim)
        link.hosts.append(attacker.machine)
        var forged = victim
        forged.sequence = 200
        let owner = OwnerOption(sequence: 200, primary: victim.card, wakeup: attacker.card)
        _ = link.takeActions()
        #expect(refusals(&link, forged.event(owner: owner)) == [.addressOfAnotherSleeper])
        // The attacker's own addresses and names, with the victim's identity: a separate sleeper.
        link.handle(attacker.event(owner: owner))
        link.run(.seconds(2))
        #expect(link.state(of: victim) == .asleep)
        #expect(link.proxy.report.sleepers.first { $0.identity.card == victim.card }?.addresses == victim.addresses)
    }

    @Test("A registration on behalf of a sleeping host does not replace its records") func sleepingHost() {
        let victim = TestSleeper.numbered(40)
        var link = VirtualLink()
        link.putToSleep(victim)
        var forged = victim
        forged.sequence = 6
        forged.port = 80
        _ = link.takeActions()
        #expect(refusals(&link, forged.event()) == [.noAnswer])
        #expect(link.state(of: victim) == .asleep)
    }

    @Test("A host that is awake is refused unless the datagram comes from its address") func awakeHost() {
        let forged = attacker.event(from: Peer(address: .v4(192, 168, 1, 66), port: 9))
        #expect(refusals(of: forged, hosts: [attacker.machine]) == [.sourceNotRegistered])
    }

    @Test("A host that remains awake is released after the settling time, and is never answered for")
    func remainsAwake() {
        var link = VirtualLink()
        link.register(attacker)
        for _ in 0..<70 {
            link.deliver(
                Frames.request(for: attacker.address, from: VirtualLink.client, VirtualLink.clientV4))
            link.run(.seconds(1))
        }
        let actions = link.takeActions()
        #expect(link.state(of: attacker) == nil && link.published.isEmpty && link.filter.isEmpty)
        #expect(actions.notes.contains { if case .stillAwake = $0 { true } else { false } })
        #expect(actions.withdrawals.allSatisfy { !$0 })
        #expect(!actions.frames.contains { $0.answersARP(for: attacker.address) })
    }

    @Test("A message with an older sequence number is refused") func replay() {
        var link = VirtualLink()
        link.register(attacker)
        var old = attacker
        old.sequence = attacker.sequence &- 1
        _ = link.takeActions()
        #expect(refusals(&link, old.event()) == [.olderSequence])
    }

    @Test(
        "Addresses that cannot belong to a single host on the link are refused",
        arguments: [
            (IPAddress.v4(224, 0, 0, 251), RefusalReason.addressNotUnicast),
            (.v4(192, 168, 1, 255), .addressNotUnicast),
            (.v4(192, 168, 1, 0), .addressNotUnicast), (.v4(127, 0, 0, 1), .addressNotUnicast),
            (.v4(255, 255, 255, 255), .addressNotUnicast), (.v4(10, 0, 0, 1), .addressNotOnLink),
            (.v6(IPv6Address(high: 0, low: 0)), .addressNotUnicast),
            (.v6(IPv6Address(high: 0xFF02 << 48, low: 1)), .addressNotUnicast),
            (.v6(IPv6Address(high: 0x2001_0DB9 << 32, low: 1)), .addressNotOnLink),
        ]) func invalidAddress(_ address: IPAddress, _ reason: RefusalReason)
    {
        #expect(refusals(of: self.address(address), hosts: [attacker.machine]) == [reason])
    }

    @Test("Records about a different host are refused") func foreignTargets() {
        let foreign: [Record] = [
            Record(
                name: "a._http._tcp.local", timeToLive: 120,
                data: .srv(priority: 0, weight: 0, port: 1, target: "b.local")),
            Record(name: "_http._tcp.local", timeToLive: 120, data: .ptr("b._http._tcp.local")),
            Record(name: "40.1.168.192.in-addr.arpa", timeToLive: 120, data: .ptr(attacker.host)),
            Record(name: "16.1.168.192.in-addr.arpa", timeToLive: 120, data: .ptr("b.local")),
        ]
        for record in foreign {
            #expect(
                refusals(of: attacker.event(attacker.records + [record]), hosts: [attacker.machine]) == [.foreignTarget]
            )
        }
    }

    @Test("Records with an unsupported class, type, lifetime or domain are refused") func kindsOfRecords() {
        let cases: [(Record, RefusalReason)] = [
            (Record(name: "a.local", recordClass: .any, timeToLive: 1, data: .a(attacker.address)), .recordClass),
            (Record(name: "a.local", timeToLive: 1, data: .other(RecordType(rawValue: 5), [0])), .recordType),
            (Record(name: "a.local", timeToLive: 0, data: .a(attacker.address)), .lifetime),
            (Record(name: "example.com", timeToLive: 9, data: .a(attacker.address)), .domain),
            (Record(name: "notlocal", timeToLive: 9, data: .a(attacker.address)), .domain),
            (Record(name: "16.1.168.192.in-addr.arpa", timeToLive: 9, data: .a(attacker.address)), .domain),
        ]
        for (record, reason) in cases {
            #expect(refusals(of: attacker.event(attacker.records + [record]), hosts: [attacker.machine]) == [reason])
        }
        #expect(refusals(of: attacker.event([]), hosts: [attacker.machine]) == [.noAddress])
    }

    @Test("A card that is the plug's own, a group or zero is refused") func card() {
        for card in [VirtualLink.plug, .broadcast, .zero] {
            let owner = OwnerOption(sequence: 1, primary: card)
            #expect(refusals(of: attacker.event(owner: owner), hosts: [attacker.machine]) == [.badCard])
        }
    }

    @Test("Each limit of a registration is enforced") func limits() {
        let base = attacker.records
        func service(_ number: Int) -> Record {
            Record(
                name: try! Name(presentation: "s\(number)._x._tcp.local"), timeToLive: 120,
                data: .srv(priority: 0, weight: 0, port: UInt16(1000 + number), target: attacker.host))
        }
        let many = (0..<60).map(service)
        func reasons(_ records: [Record], _ change: (inout SleepProxyLimits) -> Void) -> [RefusalReason] {
            var limits = SleepProxyLimits()
            change(&limits)
            var link = VirtualLink(limits: limits)
            link.hosts = [attacker.machine]
            return refusals(&link, attacker.event(base + records))
        }
        #expect(reasons(many) { $0.records = 30 } == [.tooManyRecords])
        #expect(reasons(many) { $0.bytes = 1000 } == [.tooManyBytes])
        #expect(reasons(many) { _ in } == [.tooManyNames])
        #expect(reasons(many) { $0.names = 100 } == [.tooManyPorts])
        #expect(reasons([]) { $0.addresses = 1 } == [.tooManyAddresses])
    }

    @Test("More sleepers than the limit are refused, and the first ones remain") func tooManySleepers() {
        var limits = SleepProxyLimits()
        limits.sleepers = 3
        var link = VirtualLink(limits: limits)
        for number in 10..<16 as Range<UInt8> { link.register(.numbered(number)) }
        #expect(link.proxy.report.sleepers.map(\.identity.host) == ["host10.local", "host11.local", "host12.local"])
        #expect(link.proxy.report.refusals == [.tooManySleepers: 3])
    }

    @Test("More verifications than the limit are refused") func tooManyVerifications() {
        var limits = SleepProxyLimits()
        limits.verifications = 2
        var link = VirtualLink(limits: limits)
        for number in 10..<14 as Range<UInt8> { link.handle(TestSleeper.numbered(number).event()) }
        #expect(link.takeActions().refusals == [.tooManyVerifications, .tooManyVerifications])
    }

    @Test("A flood of registrations is ignored without answers, and the log remains short") func flood() {
        var link = VirtualLink()
        for _ in 0..<5000 { link.handle(.registration([1, 2, 3], from: attacker.peer)) }
        let actions = link.takeActions()
        #expect(actions.refusals.count == SleepProxyLimits().noteBurst)
        #expect(actions.answers.isEmpty)
        #expect(link.proxy.report.refusals[.tooFrequent] == 5000 - SleepProxyLimits().registrationBurst)
    }

    @Test("An update without Owner or lease option, and a query, are refused with their response codes") func form()
        throws
    {
        func code(_ message: Message) throws -> [UInt16] {
            var link = VirtualLink()
            link.handle(.registration(try message.encoded(), from: attacker.peer))
            return link.takeActions().answers.map(\.code)
        }
        let lease = OptionsRecord(options: [.updateLease(UpdateLeaseOption(lease: 60))]).record
        let owner = OptionsRecord(options: [.owner(attacker.owner)]).record
        let update = MessageFlags(rawValue: 5 << 11)
        #expect(try code(Message(id: 1, flags: update, additionals: [lease])) == [1])
        #expect(try code(Message(id: 1, flags: update, additionals: [owner])) == [1])
        #expect(try code(Message(id: 1, flags: update)) == [1])
        #expect(try code(Message(id: 1, flags: [])) == [4])
        #expect(try code(Message(id: 1, flags: [.response])).isEmpty, "a response is not answered")
    }

    @Test("A refused name has its own response code") func nameCode() {
        var link = VirtualLink()
        link.handle(attacker.announcement(from: .v4(192, 168, 1, 40)))
        link.handle(attacker.event())
        #expect(link.takeActions().answers.map(\.code) == [6])
    }

    @Test("The table of announced names is bounded") func heldNames() {
        var limits = SleepProxyLimits()
        limits.heldNames = 8
        var link = VirtualLink(limits: limits)
        link.hosts = [attacker.machine]
        link.handle(attacker.announcement(from: .v4(192, 168, 1, 40)))
        for number in 50..<60 as Range<UInt8> { link.handle(TestSleeper.numbered(number).announcement()) }
        link.handle(attacker.event())
        link.run(.seconds(1))
        #expect(
            link.takeActions().publications[attacker.host] == false, "the old entry was removed, so a probe decides")
    }
}

extension [UInt8] {
    /// True for an ARP packet of the plug that claims the address.
    func answersARP(for address: IPv4Address) -> Bool {
        count >= 42 && Array(self[12..<14]) == [8, 6] && Array(self[22..<28]) == VirtualLink.plug.bytes
            && Array(self[28..<32]) == address.bytes
    }
}
