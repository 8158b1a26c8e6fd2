import AddressConfiguration
import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SleepProxy
import Testing

@Suite("Histories of sleepers")
struct SleepHistoryTests {
    private let sleeper = TestSleeper(lease: 7200)

    /// The host sends an ARP announcement, which shows that it is awake.
    private func wakeUp(_ sleeper: TestSleeper, on link: inout VirtualLink) {
        link.setAwake(sleeper, true)
        link.deliver(Frames.arp(.announcement(of: sleeper.address, from: sleeper.card), from: sleeper.card))
    }

    @Test("An hour of sleep with two wakes by connections adds up after the host's return") func totals() throws {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        let since = try #require(link.proxy.report.histories.first?.asleepSince)
        link.run(.seconds(1800))
        // The host does not wake, so the sleep continues.
        link.connect(to: sleeper)
        link.run(.seconds(60))
        #expect(link.proxy.report.histories.map(\.asleepSince) == [since])
        link.run(since + .seconds(3600) - link.now)
        link.connect(to: sleeper)
        wakeUp(sleeper, on: &link)
        #expect(link.proxy.report.sleepers.isEmpty)
        let history = try #require(link.proxy.report.histories.first)
        #expect(history.identity == SleeperIdentity(host: sleeper.host, card: sleeper.card))
        #expect(history.addresses == sleeper.addresses)
        #expect(history.asleepSince == nil && history.slept == .seconds(3600) && history.sleeps == 1)
        #expect(history.wakes == [.connection: 2] && history.lastCause == .connection)
    }

    @Test("A second sleep increases the count, and the generation changes with each change") func secondSleep() {
        var link = VirtualLink()
        #expect(link.proxy.historyGeneration == 0)
        link.putToSleep(sleeper)
        #expect(link.proxy.historyGeneration == 1)
        wakeUp(sleeper, on: &link)
        #expect(link.proxy.historyGeneration == 2)
        link.run(.seconds(60))
        var again = sleeper
        again.sequence += 1
        link.putToSleep(again)
        #expect(link.proxy.historyGeneration == 3)
        #expect(link.proxy.report.histories.map(\.sleeps) == [2])
    }

    @Test("The loss of the link does not end a sleep") func linkLoss() {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        let before = link.proxy.report.histories
        link.handle(.linkChanged(nil))
        link.run(.seconds(60))
        link.handle(.linkChanged(VirtualLink.link))
        link.run(.seconds(10))
        #expect(link.state(of: sleeper) == .asleep && link.proxy.report.histories == before)
    }

    @Test("A full table forgets the host that returned first, and no host that sleeps") func limit() {
        var limits = SleepProxyLimits()
        limits.rememberedHosts = 3
        var link = VirtualLink(limits: limits)
        let hosts = [10, 11, 12, 13].map { TestSleeper.numbered($0) }
        for host in hosts.prefix(3) { link.putToSleep(host) }
        wakeUp(hosts[2], on: &link)
        link.run(.seconds(1))
        wakeUp(hosts[1], on: &link)
        link.putToSleep(hosts[3])
        let kept = link.proxy.report.histories.map(\.identity.card)
        #expect(kept == [hosts[3].card, hosts[1].card, hosts[0].card])
    }

    @Test("The next proxy of a lost link continues the histories, and ends a sleep whose lease ended meanwhile")
    func lostLink() throws {
        var link = VirtualLink()
        var (present, gone) = (TestSleeper.numbered(10), TestSleeper.numbered(11))
        (present.lease, gone.lease) = (7200, 3600)
        for host in [present, gone] { link.putToSleep(host) }
        let before = link.proxy.report.histories
        let later = link.now + .seconds(3700)
        var next = VirtualLink(stored: link.stored, histories: before, at: later)
        next.run(.seconds(10))
        let histories = next.proxy.report.histories
        #expect(
            histories.first { $0.identity.card == present.card } == before.first { $0.identity.card == present.card })
        let ended = try #require(histories.first { $0.identity.card == gone.card })
        #expect(ended.asleepSince == nil && ended.slept >= .seconds(3700) && ended.sleeps == 1)
    }

    @Test("A host that slept on two links has one history with the sums") func merged() throws {
        var links = [VirtualLink(), VirtualLink()]
        for index in links.indices {
            links[index].putToSleep(sleeper)
            links[index].connect(to: sleeper)
            links[index].run(.seconds(60))
        }
        wakeUp(sleeper, on: &links[0])
        let merged = SleepHistory.merged(links.flatMap(\.proxy.report.histories))
        #expect(merged.count == 1)
        let history = try #require(merged.first)
        #expect(history.asleepSince != nil && history.sleeps == 2 && history.wakes == [.connection: 2])
        #expect(history.slept == links[0].proxy.report.histories[0].slept)
    }
}
