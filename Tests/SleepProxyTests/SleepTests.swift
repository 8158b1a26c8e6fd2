import AddressConfiguration
import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SleepProxy
import Testing

@Suite("Answers on behalf of sleepers")
struct SleepTests {
    private let sleeper = TestSleeper()
    private var request: [UInt8] {
        Frames.request(for: sleeper.address, from: VirtualLink.client, VirtualLink.clientV4)
    }

    @Test("ARP is answered only after the host is silent") func silence() {
        var link = VirtualLink()
        link.register(sleeper)
        link.run(.seconds(5))
        _ = link.takeActions()
        link.deliver(request)
        #expect(link.takeActions().frames.isEmpty)
        link.setAwake(sleeper, false)
        link.run(.seconds(3))
        #expect(link.state(of: sleeper) == .asleep)
        _ = link.takeActions()
        link.deliver(request)
        let frames = link.takeActions().frames
        #expect(frames.count == 1 && frames.allSatisfy { $0.answersARP(for: sleeper.address) })
    }

    @Test("When the host is asleep, the proxy announces its own card for each address three times")
    func announcements() {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        let frames = link.takeActions().frames
        let announced = frames.filter { $0.answersARP(for: sleeper.address) }
        #expect(announced.count == 3)
        let advertised = frames.compactMap(neighborMessage).filter {
            $0.kind == .advertisement(isSolicited: false, overrides: true) && $0.hardware == VirtualLink.plug
        }
        #expect(advertised.count == 3 && advertised.allSatisfy { $0.target == sleeper.addressV6 })
    }

    @Test("A neighbour solicitation is answered without overriding the owner's card") func solicitation() throws {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        let target = try #require(sleeper.addressV6)
        let source = IPv6Address(high: 0xFE80 << 48, low: 0x99)
        let group = IPv6Address(high: 0xFF02 << 48, low: 0x1_FF00_0010)
        let question = NeighborMessage(.solicitation, target: target, hardware: VirtualLink.client)
        _ = link.takeActions()
        link.deliver(
            Frames.ipv6(
                question.packet(from: source, to: group), from: VirtualLink.client,
                to: MACAddress(0x33, 0x33, 0xFF, 0, 0, 0x10)))
        let answers = link.takeActions().frames.compactMap(neighborMessage)
        #expect(
            answers == [
                NeighborMessage(
                    .advertisement(isSolicited: true, overrides: false), target: target, hardware: VirtualLink.plug)
            ])
    }

    @Test("A duplicate address check of a different host is answered at the group of all hosts") func duplicateCheck()
        throws
    {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        let target = try #require(sleeper.addressV6)
        let group = IPv6Address(high: 0xFF02 << 48, low: 0x1_FF00_0010)
        let question = NeighborMessage(.solicitation, target: target, hardware: nil)
        _ = link.takeActions()
        link.deliver(
            Frames.ipv6(
                question.packet(from: IPv6Address(high: 0, low: 0), to: group), from: VirtualLink.client,
                to: MACAddress(0x33, 0x33, 0xFF, 0, 0, 0x10)))
        let frames = link.takeActions().frames
        #expect(frames.map { Array($0[0..<6]) } == [[0x33, 0x33, 0, 0, 0, 1]])
        #expect(link.state(of: sleeper) == .asleep)
    }

    @Test("A frame from the host's card releases all its records at once, without a goodbye") func anyFrame() {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        _ = link.takeActions()
        link.deliver(
            Frames.datagram(
                to: .v4(192, 168, 1, 255), port: 138, from: sleeper.card, .v4(sleeper.address),
                destination: .broadcast))
        let actions = link.takeActions()
        #expect(actions.withdrawals == [false, false, false])
        #expect(actions.notes == [.awake(SleeperIdentity(host: sleeper.host, card: sleeper.card), after: nil)])
        link.deliver(request)
        #expect(link.takeActions().frames.isEmpty)
    }

    @Test("A message with a newer Owner option releases the host") func newerOwner() {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        var owner = sleeper.owner
        link.handle(sleeper.announcement(from: .v4(192, 168, 1, 3), owner: owner))
        #expect(link.state(of: sleeper) == .asleep, "the same number can be a reflected message")
        owner.sequence &+= 1
        link.handle(sleeper.announcement(from: .v4(192, 168, 1, 3), owner: owner))
        #expect(link.state(of: sleeper) == nil)
    }

    @Test("The sequence number may wrap around") func wrappedSequence() {
        var last = sleeper
        last.sequence = 255
        var link = VirtualLink()
        link.putToSleep(last)
        var owner = last.owner
        owner.sequence = 0
        link.handle(last.announcement(from: .v4(192, 168, 1, 3), owner: owner))
        #expect(link.state(of: last) == nil)
    }

    @Test("A multicast message from the host's address releases the host; one from the plug does not")
    func ownMessages() {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        var owner = sleeper.owner
        owner.sequence &+= 1
        link.handle(sleeper.announcement(from: .v4(VirtualLink.plugV4), owner: owner))
        #expect(link.state(of: sleeper) == .asleep)
        link.handle(sleeper.announcement())
        #expect(link.state(of: sleeper) == nil)
    }

    @Test("If a returned host does not announce its card, the proxy announces it instead") func correction() {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        link.handle(sleeper.announcement())
        _ = link.takeActions()
        link.run(.seconds(5))
        let frames = link.takeActions().frames
        let packets = frames.compactMap { try? ARPPacket(decoding: Array($0[14...])) }
        #expect(
            packets == [
                .announcement(of: sleeper.address, from: sleeper.card),
                .announcement(of: sleeper.address, from: sleeper.card),
            ])
        #expect(frames.compactMap(neighborMessage).map(\.hardware) == [sleeper.card, sleeper.card])
        #expect(link.filter.isEmpty)
    }

    @Test("The proxy does not repeat an announcement that the host sent itself") func ownAnnouncement() {
        var v4 = sleeper
        v4.addressV6 = nil
        var link = VirtualLink()
        link.putToSleep(v4)
        link.deliver(Frames.arp(.announcement(of: v4.address, from: v4.card), from: v4.card))
        _ = link.takeActions()
        link.run(.seconds(5))
        #expect(link.takeActions().frames.isEmpty)
    }

    @Test("A host that returns registers and sleeps again") func secondPeriod() {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        link.setAwake(sleeper, true)
        link.handle(sleeper.announcement())
        var next = sleeper
        next.sequence &+= 1
        next.id = 99
        _ = link.takeActions()
        link.putToSleep(next)
        #expect(link.takeActions().answers.map(\.id) == [99])
        #expect(link.state(of: next) == .asleep && link.published.count == 3)
    }

    @Test("A registration of a host that woke up unnoticed replaces the previous one") func unnoticedReturn() {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        var next = sleeper
        next.sequence &+= 1
        link.setAwake(sleeper, true)
        link.register(next)
        #expect(link.state(of: next) == .settling && link.published.count == 3)
    }

    @Test("At the end of the lease the sleeper is woken; if it does not return, its records get a goodbye")
    func leaseEnd() {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        _ = link.takeActions()
        link.run(.seconds(3640))
        let actions = link.takeActions()
        let identity = SleeperIdentity(host: sleeper.host, card: sleeper.card)
        #expect(actions.notes == [.waking(identity, .leaseEnd), .didNotWake(identity, .leaseEnd), .expired(identity)])
        #expect(actions.withdrawals == [true, true, true])
        #expect(link.proxy.report.sleepers.isEmpty && link.proxy.report.expirations == 1 && link.filter.isEmpty)
    }

    @Test("If the link is lost, no goodbye is sent; when it returns, the proxy checks the host again") func lostLink() {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        _ = link.takeActions()
        link.handle(.linkChanged(nil))
        #expect(link.takeActions().withdrawals == [false, false, false])
        #expect(link.proxy.nextDeadline == nil && link.filter.isEmpty)
        link.run(.seconds(60))
        link.handle(.linkChanged(VirtualLink.link))
        link.run(.seconds(10))
        #expect(link.takeActions().publications.values.allSatisfy { !$0 })
        #expect(link.state(of: sleeper) == .asleep && link.published.count == 3)
    }

    @Test("A sleeper is removed when its address becomes an address of the plug") func addressTakenByPlug() {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        var changed = VirtualLink.link
        changed.addresses.append(InterfaceAddress(.v4(sleeper.address), prefixLength: 24))
        link.handle(.linkChanged(changed))
        #expect(link.proxy.report.sleepers.isEmpty && link.published.isEmpty)
    }

    @Test("Turning the proxy off wakes all sleepers and withdraws their records") func disable() {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        link.putToSleep(.numbered(40))
        _ = link.takeActions()
        link.handle(.disable)
        let actions = link.takeActions()
        #expect(Set(actions.wakes) == [sleeper.card, TestSleeper.numbered(40).card])
        #expect(link.published.isEmpty && link.filter.isEmpty && link.stored?.isEmpty == true)
        link.handle(sleeper.event())
        #expect(link.takeActions().isEmpty && link.proxy.nextDeadline == nil)
    }

    @Test("The end of the process sends nothing, and the stored sleepers remain") func stop() {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        _ = link.takeActions()
        link.handle(.stop)
        #expect(link.takeActions() == [.capture(CaptureFilter())])
        #expect(link.stored?.count == 1)
    }

    private func neighborMessage(_ bytes: [UInt8]) -> NeighborMessage? {
        guard let frame = try? EthernetFrame(decoding: bytes), frame.type == EthernetFrame.ipv6,
            let packet = try? IPv6Packet(decoding: frame.payload)
        else { return nil }
        return try? NeighborMessage(decoding: packet)
    }
}
