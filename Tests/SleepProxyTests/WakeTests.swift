import AddressConfiguration
import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SleepProxy
import Testing

@Suite("Waking")
struct WakeTests {
    private let sleeper = TestSleeper()

    private func asleep(_ sleeper: TestSleeper? = nil, limits: SleepProxyLimits = SleepProxyLimits()) -> VirtualLink {
        var link = VirtualLink(limits: limits)
        link.putToSleep(sleeper ?? self.sleeper)
        _ = link.takeActions()
        return link
    }

    @Test("A rehearsed wake produces the magic packet") func rehearsal() { #expect(SleepProxy.rehearseWake()) }

    @Test("A SYN to a registered port causes two magic packets at once: a broadcast and one to the card")
    func connection()
        throws
    {
        var link = asleep()
        link.connect(to: sleeper)
        let frames = link.takeActions().frames
        #expect(frames.count == 2)
        #expect(frames.map { MACAddress(bytes: $0[0..<6]) } == [.broadcast, sleeper.card])
        for frame in frames { #expect(Array(frame[14...]) == MagicPacket(card: sleeper.card).payload) }
        #expect(link.proxy.report.wakes == [.connection: 1])
        #expect(link.proxy.report.sleepers.first?.lastCause == .connection)
    }

    @Test("The magic packet ends with the password of the Owner option") func password() throws {
        var protected = sleeper
        protected.password = WakePassword(bytes: [9, 8, 7, 6, 5, 4])
        var link = asleep(protected)
        link.connect(to: protected)
        let frames = link.takeActions().frames
        #expect(frames.count == 2 && frames.allSatisfy { $0.count == 14 + 108 && $0.suffix(6) == [9, 8, 7, 6, 5, 4] })
    }

    @Test("A UDP datagram to a registered port wakes the sleeper, over IPv6 too") func datagram() throws {
        var link = asleep()
        link.deliver(
            Frames.datagram(
                to: .v6(try #require(sleeper.addressV6)), port: sleeper.udpPort, from: VirtualLink.client,
                .v6(IPv6Address(high: 0xFE80 << 48, low: 0x99))))
        #expect(link.takeActions().wakes == [sleeper.card])
    }

    @Test("Other packets for a sleeper do not wake it") func otherPackets() {
        var link = asleep()
        let client = IPAddress.v4(VirtualLink.clientV4)
        let address = IPAddress.v4(sleeper.address)
        let noise: [[UInt8]] = [
            Frames.segment([.syn, .ack], to: address, port: sleeper.port, from: VirtualLink.client, client),
            Frames.segment([.syn, .rst], to: address, port: sleeper.port, from: VirtualLink.client, client),
            Frames.segment(.ack, to: address, port: sleeper.port, from: VirtualLink.client, client),
            Frames.segment(.fin, to: address, port: sleeper.port, from: VirtualLink.client, client),
            Frames.segment(.syn, to: address, port: 22, from: VirtualLink.client, client),
            Frames.segment(.syn, to: address, port: sleeper.udpPort, from: VirtualLink.client, client),
            Frames.datagram(to: address, port: sleeper.port, from: VirtualLink.client, client),
            Frames.datagram(to: address, port: 5353, from: VirtualLink.client, client),
            Frames.datagram(
                to: address, port: sleeper.udpPort, from: VirtualLink.client, client, destination: .broadcast),
            Frames.ping(sleeper.address, from: VirtualLink.client, VirtualLink.clientV4),
            Frames.request(for: sleeper.address, from: VirtualLink.client, VirtualLink.clientV4),
            Frames.request(for: sleeper.address, from: VirtualLink.client, .any),
        ]
        for frame in noise { link.deliver(frame) }
        #expect(link.takeActions().wakes.isEmpty)
        #expect(link.state(of: sleeper) == .asleep)
    }

    @Test("A service at the port of multicast DNS does not wake its host") func multicastPort() {
        var odd = sleeper
        odd.udpPort = 5353
        var link = asleep(odd)
        link.deliver(
            Frames.datagram(to: .v4(odd.address), port: 5353, from: VirtualLink.client, .v4(VirtualLink.clientV4)))
        #expect(link.takeActions().wakes.isEmpty)
    }

    @Test("Magic packets are sent with growing pauses, and after the fifth one a failed wake is reported")
    func attempts() throws {
        var link = asleep()
        let start = link.now
        link.connect(to: sleeper)
        link.run(.seconds(60))
        let actions = link.takeTimedActions()
        let times = actions.filter { [$0.action].wakes == [sleeper.card] }.map { ($0.time - start).inSeconds }
        #expect(times == [0, 1, 3, 7, 15])
        let identity = SleeperIdentity(host: sleeper.host, card: sleeper.card)
        #expect(actions.map(\.action).notes.last == .didNotWake(identity, .connection))
        #expect(link.state(of: sleeper) == .asleep && link.proxy.report.failedWakes == 1)
    }

    @Test("While the host wakes up, ARP is answered, and a further SYN causes no second wake") func whileWaking() {
        var link = asleep()
        link.connect(to: sleeper)
        _ = link.takeActions()
        link.connect(to: sleeper)
        link.deliver(Frames.request(for: sleeper.address, from: VirtualLink.client, VirtualLink.clientV4))
        let frames = link.takeActions().frames
        #expect(frames.count == 1 && frames.allSatisfy { $0.answersARP(for: sleeper.address) })
        #expect(link.proxy.report.wakes == [.connection: 1])
    }

    @Test("When the host returns, the magic packets end, and the duration of the wake is reported")
    func returnAfterWake() {
        var link = asleep()
        link.connect(to: sleeper)
        link.run(.seconds(4))
        _ = link.takeActions()
        link.deliver(Frames.arp(.announcement(of: sleeper.address, from: sleeper.card), from: sleeper.card))
        let actions = link.takeActions()
        let identity = SleeperIdentity(host: sleeper.host, card: sleeper.card)
        #expect(actions.notes == [.awake(identity, after: .seconds(4))])
        #expect(actions.withdrawals == [false, false, false])
        link.run(.seconds(60))
        #expect(link.takeActions().wakes.isEmpty && link.proxy.report.returns == 1)
    }

    @Test("A card that claims the sleeper's address wakes it") func addressConflict() {
        var link = asleep()
        let other = MACAddress(2, 0, 0, 0, 0, 0x66)
        link.deliver(Frames.arp(.announcement(of: sleeper.address, from: other), from: other))
        #expect(link.takeActions().wakes == [sleeper.card])
        #expect(link.proxy.report.wakes == [.addressConflict: 1])
    }

    @Test("A card that claims the address of a host that is still awake ends the registration") func earlyConflict() {
        var link = VirtualLink()
        link.register(sleeper)
        let other = MACAddress(2, 0, 0, 0, 0, 0x66)
        link.deliver(Frames.arp(.announcement(of: sleeper.address, from: other), from: other))
        #expect(link.state(of: sleeper) == nil && link.published.isEmpty)
    }

    @Test("If a sleeper's name is lost to another host, the sleeper is woken and only this name is withdrawn")
    func nameConflict() throws {
        var link = asleep()
        let group = try #require(link.published.first { $0.value.name == sleeper.instance }?.key)
        link.handle(.conflicted(group))
        let actions = link.takeActions()
        #expect(actions.withdrawals == [false] && actions.wakes == [sleeper.card])
        #expect(link.published.count == 2)
    }

    @Test("A minute after a better proxy appeared, the sleepers are woken one after another, each once")
    func betterProxy() throws {
        var link = VirtualLink()
        let sleepers = (10..<13 as Range<UInt8>).map(TestSleeper.numbered)
        for sleeper in sleepers { link.putToSleep(sleeper) }
        let better = try #require(SleepProxyName("30-50-50-50 Router"))
        link.handle(.proxies([better]))
        _ = link.takeActions()
        link.run(.seconds(59))
        #expect(link.takeActions().wakes.isEmpty)
        link.run(.seconds(1))
        #expect(link.takeActions().wakes == [sleepers[0].card])
        link.run(.seconds(300))
        #expect(link.proxy.report.wakes == [.betterProxy: 3])
    }

    @Test("A proxy with equal or worse metrics, or one that leaves, causes no wake") func otherProxies() throws {
        var link = asleep()
        let names = ["50-50-50-50.3 Equal", "60-10-10-10 Worse", "notaproxy"].compactMap(SleepProxyName.init)
        link.handle(.proxies(names))
        link.run(.seconds(200))
        link.handle(.proxies([try #require(SleepProxyName("10-10-10-10 Better"))]))
        link.run(.seconds(30))
        link.handle(.proxies([]))
        link.run(.seconds(200))
        #expect(link.takeActions().wakes.isEmpty)
    }

    @Test("A host that returns for a better proxy is reported as handed over") func handedOver() throws {
        var link = asleep()
        link.handle(.proxies([try #require(SleepProxyName("10-10-10-10 Better"))]))
        link.run(.seconds(61))
        link.handle(sleeper.announcement())
        #expect(link.takeActions().notes.last == .handedOver(SleeperIdentity(host: sleeper.host, card: sleeper.card)))
    }

    @Test("A host that is woken repeatedly is woken at the rate of its budget, even if it registers again")
    func sleeperBudget() {
        var link = asleep()
        var period = sleeper
        var wakes = 0
        for _ in 0..<20 {
            link.connect(to: period)
            wakes += link.takeActions().wakes.count
            link.setAwake(period, true)
            link.handle(period.announcement())
            period.sequence &+= 1
            link.putToSleep(period)
            _ = link.takeActions()
        }
        // The 20 periods of about ten seconds last about 200 s. The budget allows four wakes at once, and two more per
        // minute.
        #expect((4...11).contains(wakes), "\(wakes) wakes")
        #expect(link.proxy.report.suppressedWakes == 20 - wakes)
    }

    @Test("The wakes for one cause are limited, and another cause has its own limit") func causeBudget() {
        var limits = SleepProxyLimits()
        limits.causeWakeBurst = 3
        var link = VirtualLink(limits: limits)
        let sleepers = (10..<16 as Range<UInt8>).map(TestSleeper.numbered)
        for sleeper in sleepers { link.putToSleep(sleeper) }
        _ = link.takeActions()
        for sleeper in sleepers { link.connect(to: sleeper) }
        #expect(link.takeActions().wakes.count == 3)
        // Address conflicts have their own budget.
        let other = MACAddress(2, 0, 0, 0, 0, 0x66)
        link.deliver(Frames.arp(.announcement(of: sleepers[5].address, from: other), from: other))
        #expect(link.takeActions().wakes == [sleepers[5].card])
    }

    @Test("The wakes for all causes together have a limit") func totalBudget() {
        var limits = SleepProxyLimits()
        limits.wakeBurst = 2
        var link = VirtualLink(limits: limits)
        let sleepers = (10..<14 as Range<UInt8>).map(TestSleeper.numbered)
        for sleeper in sleepers { link.putToSleep(sleeper) }
        _ = link.takeActions()
        for sleeper in sleepers { link.connect(to: sleeper) }
        #expect(link.takeActions().wakes.count == 2)
    }
}
