import AddressConfiguration
import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SleepProxy
import Testing

@Suite("Noise of a busy link")
struct NoiseTests {
    private let sleeper = TestSleeper()

    @Test("24 hours of unrelated packets wake no sleeper") func day() {
        var limits = SleepProxyLimits()
        limits.lease = 100_000
        var long = sleeper
        long.lease = 100_000
        var link = VirtualLink(limits: limits)
        link.putToSleep(long)
        let events = noise()
        _ = link.takeActions()
        var random = SeededRandom(seed: 7)
        for _ in 0..<86_400 {
            link.run(.seconds(1))
            for _ in 0..<2 { link.handle(events.randomElement(using: &random)!) }
            #expect(link.takeActions().wakes.isEmpty)
        }
        #expect(link.state(of: long) == .asleep)
        #expect(link.proxy.report.wakes.isEmpty && link.proxy.report.suppressedWakes == 0)
    }

    /// Packets of other hosts, to the sleeper and to others. The test does not apply the capture filter to them,
    /// because they must not wake a host even if the filter is too wide.
    private func noise() -> [SleepProxy.Event] {
        let address = IPAddress.v4(sleeper.address)
        var frames: [[UInt8]] = []
        for number in 60..<90 as Range<UInt8> {
            let card = MACAddress(2, 0, 0, 0, 2, number)
            let own = IPv4Address(192, 168, 1, number)
            let ownV6 = IPv6Address(high: 0xFE80 << 48, low: UInt64(number))
            frames += [
                Frames.request(for: sleeper.address, from: card, own),
                Frames.request(for: VirtualLink.router, from: card, own),
                Frames.request(for: own, from: card, .any), Frames.arp(.announcement(of: own, from: card), from: card),
                Frames.ping(sleeper.address, from: card, own),
                Frames.segment(.syn, to: address, port: UInt16(number), from: card, .v4(own)),
                Frames.segment([.syn, .ack], to: address, port: 445, from: card, .v4(own)),
                Frames.segment(.ack, to: address, port: 445, from: card, .v4(own)),
                Frames.segment(.syn, to: .v4(192, 168, 1, 200), port: 445, from: card, .v4(own)),
                Frames.datagram(to: address, port: 5353, from: card, .v4(own)),
                Frames.datagram(to: address, port: 137, from: card, .v4(own)),
                Frames.datagram(to: .v4(192, 168, 1, 255), port: 7000, from: card, .v4(own), destination: .broadcast),
                Frames.datagram(to: address, port: 7000, from: card, .v4(own), destination: .broadcast),
                Frames.ipv6(
                    NeighborMessage(.solicitation, target: sleeper.addressV6!, hardware: card).packet(
                        from: ownV6, to: IPv6Address(high: 0xFF02 << 48, low: 0x1_FF00_0010)), from: card,
                    to: MACAddress(0x33, 0x33, 0xFF, 0, 0, 0x10)),
                Frames.ipv6(
                    NeighborMessage(.advertisement(isSolicited: false, overrides: true), target: ownV6, hardware: card)
                        .packet(from: ownV6, to: IPv6Address(high: 0xFF02 << 48, low: 1)), from: card,
                    to: MACAddress(0x33, 0x33, 0, 0, 0, 1)),
                [UInt8](repeating: number, count: Int(number)),
            ]
        }
        let messages = (60..<90 as Range<UInt8>).map { TestSleeper.numbered($0).announcement() }
        return frames.map { .frame($0) } + messages
    }
}
