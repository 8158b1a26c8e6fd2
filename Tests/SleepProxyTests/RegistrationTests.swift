import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SleepProxy
import Testing

@Suite("Registrations")
struct RegistrationTests {
    private let sleeper = TestSleeper()

    @Test("A verified host is published and answered within 50 ms") func verifiedHost() throws {
        var link = VirtualLink()
        link.handle(sleeper.announcement())
        link.hosts = [sleeper.machine]
        _ = link.takeActions()
        let start = link.now
        link.handle(sleeper.event())
        link.run(.seconds(1))
        let actions = link.takeTimedActions()
        let answered = try #require(actions.first { [$0.action].answers.first?.isSuccess == true })
        #expect(answered.time - start <= .milliseconds(50))
        #expect([answered.action].answers == [SleepRegistrationAnswer(id: 77, code: .success, lease: 3600)])
        let published = actions.map(\.action).publications
        #expect(
            published.keys.sorted { "\($0)" < "\($1)" }.map { "\($0)" } == [
                "nas._smb._tcp.local", "nas._stream._udp.local", "nas.local",
            ])
        #expect(published.values.allSatisfy { $0 }, "the host announced all names itself")
    }

    @Test("Records are grouped by unique name with the Owner option, and services require their host") func groups()
        throws
    {
        var link = VirtualLink()
        link.register(sleeper)
        let groups = link.published
        let host = try #require(groups.first { $0.value.name == sleeper.host })
        let service = try #require(groups.first { $0.value.name == sleeper.instance })
        #expect(host.value.unique.map(\.type) == [.a, .aaaa])
        #expect(service.value.unique.map(\.type) == [.srv, .txt])
        #expect(service.value.shared.map(\.name) == ["_smb._tcp.local"])
        #expect(service.value.answeredOnly.map(\.name) == ["_services._dns-sd._udp.local"])
        #expect(service.value.requires == host.key && host.value.requires == nil)
        #expect(groups.values.allSatisfy { $0.interface == 3 })
        let record = try #require(service.value.option)
        let options = try #require(try OptionsRecord(record))
        #expect(options.owner == sleeper.owner)
        #expect(groups.keys.allSatisfy { $0 >= SleepProxy.firstGroup })
    }

    @Test("A name that was never announced is published with probing") func unknownName() {
        var link = VirtualLink()
        link.register(sleeper)
        #expect(
            link.takeActions().publications == [
                sleeper.host: false, sleeper.instance: false, "nas._stream._udp.local": false,
            ])
    }

    @Test("A name that two hosts announced is published with probing") func disputedName() {
        var link = VirtualLink()
        link.handle(sleeper.announcement(from: .v4(192, 168, 1, 50)))
        link.handle(sleeper.announcement())
        link.register(sleeper)
        #expect(link.takeActions().publications.values.allSatisfy { !$0 })
    }

    @Test("A repeated message is not a second registration and is answered once") func repeated() {
        var link = VirtualLink()
        link.hosts = [sleeper.machine]
        for _ in 0..<3 { link.handle(sleeper.event()) }
        link.run(.seconds(1))
        #expect(link.takeActions().answers.count == 1)
        #expect(link.proxy.report.registrations == 1)
    }

    @Test("A repeated message after the answer is answered without a new verification") func lostAnswer() {
        var link = VirtualLink()
        link.register(sleeper)
        _ = link.takeActions()
        link.handle(sleeper.event())
        #expect(link.takeActions().map { [$0].answers.first?.isSuccess } == [true])
        #expect(link.proxy.report.registrations == 1)
    }

    @Test("Several messages with one sequence number form one registration") func severalMessages() throws {
        var link = VirtualLink()
        link.hosts = [sleeper.machine]
        let messages = try sleeper.registration.messages(limit: 220)
        #expect(messages.count > 1)
        for message in messages { link.handle(.registration(message.bytes, from: sleeper.peer)) }
        link.run(.seconds(1))
        #expect(Set(link.takeActions().answers.filter(\.isSuccess).map(\.id)) == Set(messages.map(\.id)))
        #expect(link.published.count == 3)
        #expect(link.proxy.report.sleepers.map(\.records) == [sleeper.records.count])
    }

    @Test("A registration with a newer sequence number replaces the records") func renewal() {
        var link = VirtualLink()
        link.register(sleeper)
        var next = sleeper
        next.sequence = 6
        next.id = 78
        let records = next.records.filter { $0.type == .a || $0.type == .aaaa }
        link.handle(next.event(records))
        link.run(.milliseconds(50))
        #expect(link.takeActions().answers.last == SleepRegistrationAnswer(id: 78, code: .success, lease: 3600))
        #expect(link.published.values.map(\.name) == [sleeper.host])
    }

    @Test("A longer lease than the limit is reduced to the limit") func lease() {
        var long = sleeper
        long.lease = .max
        var link = VirtualLink()
        link.register(long)
        #expect(link.takeActions().answers.map(\.lease) == [SleepProxyLimits().lease])
    }

    @Test("A host with two cards is verified by the card of its Owner option") func secondCard() {
        var host = sleeper
        host.primary = MACAddress(2, 0, 0, 0, 0, 0x77)
        var link = VirtualLink()
        link.register(host)
        #expect(link.takeActions().answers.map(\.isSuccess) == [true])
        #expect(link.proxy.report.sleepers.map(\.identity.card) == [host.card])
    }

    @Test("Reverse mappings of the host's addresses are unique records") func reverseMapping() {
        var link = VirtualLink()
        link.hosts = [sleeper.machine]
        let reverse = Record(name: "16.1.168.192.in-addr.arpa", timeToLive: 120, data: .ptr(sleeper.host))
        link.handle(sleeper.event(sleeper.records + [reverse]))
        link.run(.seconds(1))
        #expect(link.takeActions().publications["16.1.168.192.in-addr.arpa"] == true)
    }

    @Test("Records that describe TCP connections are ignored") func keepalive() {
        var link = VirtualLink()
        link.hosts = [sleeper.machine]
        let null = Record(
            name: "x._keepalive._dns-sd._udp.local", timeToLive: 120, data: .other(RecordType(rawValue: 10), [1, 2]))
        link.handle(sleeper.event(sleeper.records + [null]))
        link.run(.seconds(1))
        #expect(link.takeActions().answers.map(\.isSuccess) == [true])
    }

    @Test("The capture filter contains the host's addresses and card as soon as its registration arrives")
    func filter() {
        var link = VirtualLink()
        #expect(link.filter.isEmpty)
        link.handle(sleeper.event())
        let expected = CaptureFilter(addresses: Set(sleeper.addresses), cards: [sleeper.card])
        guard case .capture(expected) = link.takeActions().first else {
            Issue.record("the filter is not the first action")
            return
        }
        link.run(.seconds(10))
        #expect(link.filter.isEmpty, "the host did not answer")
    }
}
