import DNSWire
import MulticastDNS
import ProtocolCore
import Testing

/// Tests of unicast answers (RFC 6762 §5.4, §5.5).
struct ReplyTests {
    private let toStranger = OutboundDatagram.Destination.unicast(stranger.address, port: RFC6762.port)

    private func probe(_ record: Record, wantsUnicast: Bool = true) throws -> Responder.Event {
        let question = Question(name: record.name, type: .any, wantsUnicast: wantsUnicast)
        return .received(try inbound(Message(questions: [question], authorities: [record.withoutFlush])))
    }

    @Test("A record is sent by unicast only within a quarter of its lifetime after its last multicast")
    func onlyWhatWasMulticastLatelyIsAnsweredAlone() throws {
        var test = Harness.announced()
        // The records were announced a minute ago: within a quarter of 4500 s, but not of 120 s.
        test.send(.received(try inbound(ask(instance, .txt, wantsUnicast: true))))
        #expect(test.sent.last?.datagram.destination == toStranger)
        test.send(.received(try inbound(ask(instance, .srv, wantsUnicast: true))))
        #expect(test.sent.last?.datagram.destination == .multicast(.v4))
    }

    @Test("A question of another responder on this host is answered by multicast")
    func anotherResponderOnThisHostIsAnsweredByMulticast() throws {
        var test = Harness.announced()
        let neighbour = Peer(address: .v4(10, 0, 0, 1), port: 5353)
        test.send(.received(try inbound(ask(instance, .txt, wantsUnicast: true), from: neighbour)))
        #expect(test.sent.map(\.datagram.destination) == [.multicast(.v4)])
    }

    @Test("Unicast answers with shared records are delayed like multicast answers")
    func sharedRecordsWaitAsLongAsByMulticast() throws {
        var delays: [Duration] = []
        for seed in 0..<100 as Range<UInt64> {
            var test = Harness.announced(seed: seed)
            let asked = test.now
            test.send(.received(try inbound(ask(type, .ptr, wantsUnicast: true))))
            #expect(test.log.isEmpty)
            test.run(for: .milliseconds(121))
            #expect(test.sent.map(\.datagram.destination) == [toStranger])
            #expect(test.sent.first?.message.answers == [pointer()])
            delays.append(try #require(test.sent.first).time - asked)
        }
        #expect(delays.allSatisfy { (.milliseconds(20) ... .milliseconds(120)).contains($0) })
        #expect(delays.filter { $0 < .milliseconds(45) }.count > 10)
        #expect(delays.filter { $0 > .milliseconds(95) }.count > 10)
    }

    @Test("A delayed unicast answer is dropped after a known answer or a multicast of the same record")
    func whatTheAskerOrTheLinkLearnsMeanwhileIsNotToldAgain() throws {
        var test = Harness.announced()
        var question = ask(type, .ptr, wantsUnicast: true)
        question.flags = .truncated
        test.send(.received(try inbound(question)))
        test.run(for: .milliseconds(100))
        test.send(.received(try inbound(Message(answers: [pointer()]))))
        test.send(.received(try inbound(ask(type, .ptr, wantsUnicast: true))))
        test.send(.received(try inbound(response([pointer()]))))
        test.run(for: .seconds(1))
        #expect(test.log.isEmpty)
    }

    @Test("A probe is answered by unicast immediately, even right after a multicast")
    func aProbeIsAnsweredAloneAtOnceHoweverLatelyAllHaveHeard() throws {
        var test = Harness.announced()
        let start = test.now
        for _ in 0..<3 {
            test.send(try probe(srv(99)))
            test.run(for: .milliseconds(10))
        }
        test.run(for: .seconds(1))
        // More than a quarter of the SRV record's lifetime has passed since its last multicast, so the first probe is
        // also answered by multicast. For the next quarter of its lifetime, the record is not multicast again.
        let alone = test.sent.filter { $0.datagram.destination == toStranger }
        let toAll = test.sent.filter { $0.datagram.destination == .multicast(.v4) }
        #expect(alone.map { $0.time - start } == [.zero, .milliseconds(10), .milliseconds(20)])
        #expect(alone.allSatisfy { Set($0.message.answers) == [srv(), txt()] })
        #expect(toAll.map { $0.time - start } == [.zero])
        #expect(toAll.map(\.message.answers) == [[srv()]])
    }

    @Test("Beyond the limit of delayed unicast answers, one multicast answers all others")
    func whenTooManyWaitTheLinkIsToldOnce() throws {
        var test = Harness.announced()
        for number in 0..<200 as Range<UInt8> {
            let asker = Peer(address: .v4(10, 0, 0, 50 + number % 200), port: 5353)
            test.send(.received(try inbound(ask(type, .ptr, wantsUnicast: true), from: asker)))
        }
        test.run(for: .seconds(1))
        #expect(test.sent.count == 33)
        #expect(test.sent.filter { $0.datagram.destination == .multicast(.v4) }.count == 1)
    }

    @Test("A delayed answer is dropped if its address family is no longer on the interface")
    func nothingIsSentToAFamilyThatIsGone() throws {
        let v6 = IPAddress.v6(IPv6Address(high: 0xFE80 << 48, low: 1))
        let dual = NetworkInterface(
            id: 2, name: "eth0", addresses: ethernet.addresses + [InterfaceAddress(v6, prefixLength: 64)])
        var test = Harness.announced(on: [dual])
        let asker = Peer(address: .v6(IPv6Address(high: 0xFE80 << 48, low: 9)), port: 5353)
        test.send(.received(try inbound(ask(type, .ptr, wantsUnicast: true), from: asker)))
        test.send(.interfaceChanged(ethernet))
        test.run(for: .seconds(1))
        #expect(!test.sent.contains { $0.datagram.destination == .unicast(asker.address, port: 5353) })
    }
}
