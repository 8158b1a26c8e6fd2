import DNSWire
import ProtocolCore
import ServiceDiscovery
import SleepProxy
import Testing

@Suite("Restart of the proxy")
struct RestartTests {
    private let sleeper = TestSleeper()

    /// The stored sleepers of a proxy with one sleeper, and the time of storing.
    private func stored() throws -> (StoredSleepers, Instant) {
        var link = VirtualLink()
        link.putToSleep(sleeper)
        return (try #require(link.stored), link.now)
    }

    @Test("A stored sleeper that does not answer is published with probing and represented again")
    func silent() throws {
        let (stored, time) = try stored()
        var link = VirtualLink(stored: stored, at: time + .seconds(5))
        #expect(link.published.isEmpty)
        link.run(.seconds(5))
        let actions = link.takeActions()
        #expect(actions.publications.count == 3 && actions.publications.values.allSatisfy { !$0 })
        #expect(link.state(of: sleeper) == .asleep && link.published.count == 3)
        link.connect(to: sleeper)
        #expect(link.takeActions().wakes == [sleeper.card])
    }

    @Test("A stored sleeper that answers is awake, so it is removed and its records are not published")
    func awake() throws {
        let (stored, time) = try stored()
        var link = VirtualLink(stored: stored, at: time + .seconds(5), link: nil)
        link.hosts = [sleeper.machine]
        link.handle(.linkChanged(VirtualLink.link))
        link.run(.seconds(5))
        #expect(link.takeActions().publications.isEmpty)
        #expect(link.proxy.report.sleepers.isEmpty && link.stored?.isEmpty == true)
    }

    @Test("Stored sleepers are checked and represented only when the link is up") func withoutLink() throws {
        let (stored, time) = try stored()
        var link = VirtualLink(stored: stored, at: time, link: nil)
        link.run(.seconds(60))
        #expect(link.takeActions().isEmpty && link.stored == nil)
        link.handle(.linkChanged(VirtualLink.link))
        link.run(.seconds(5))
        #expect(link.state(of: sleeper) == .asleep)
    }

    @Test("A sleeper whose lease ended before the restart is not restored") func expired() throws {
        let (stored, time) = try stored()
        let link = VirtualLink(stored: stored, at: time + .seconds(3600))
        #expect(link.proxy.report.sleepers.isEmpty)
    }

    @Test("After a reboot the remaining lease counts from the time of storing") func reboot() throws {
        let (stored, _) = try stored()
        var link = VirtualLink(stored: stored, at: .zero + .seconds(1))
        link.run(.seconds(5))
        let report = try #require(link.proxy.report.sleepers.first)
        #expect(report.state == .asleep)
        #expect((report.expires - .zero).inSeconds > 3500 && (report.expires - .zero).inSeconds < 3602)
    }

    @Test("Stored sleepers survive encoding and decoding") func roundTrip() throws {
        let (stored, _) = try stored()
        #expect(try StoredSleepers(decoding: stored.encoded) == stored)
    }

    @Test("Damaged bytes are recognized") func damage() throws {
        let bytes = try stored().0.encoded
        for place in bytes.indices {
            var damaged = bytes
            damaged[place] ^= 0x10
            #expect(throws: StoredSleepersError.self) { try StoredSleepers(decoding: damaged) }
            #expect(throws: StoredSleepersError.self) { try StoredSleepers(decoding: Array(bytes[..<place])) }
        }
    }
}
