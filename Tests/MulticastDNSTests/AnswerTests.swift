import DNSWire
import MulticastDNS
import ProtocolCore
import Testing

struct AnswerTests {
    @Test("A query for a unique record is answered immediately, with the additional records")
    func aUniqueRecordIsAnsweredAtOnceWithItsAdditionals() throws {
        var test = Harness.announced()
        test.send(.received(try inbound(ask(instance, .srv))))
        #expect(test.sent.map(\.message) == [response([srv()], [address(), hostNSEC, serviceNSEC])])
        #expect(test.sent.first?.time == test.now)
    }

    @Test("Names of a query are compared without case")
    func namesAreComparedWithoutCase() throws {
        var test = Harness.announced()
        test.send(.received(try inbound(ask("a._X._TCP.LOCAL", .txt))))
        #expect(test.sent.map(\.message.answers) == [[txt()]])
    }

    @Test("A query of type ANY is answered with all unique records")
    func anyBringsTheWholeSet() throws {
        var test = Harness.announced()
        test.send(.received(try inbound(ask(instance, .any))))
        #expect(test.sent.map { Set($0.message.answers) } == [[srv(), txt()]])
    }

    @Test("A query for a missing type of our name is answered with an NSEC record")
    func aTypeThatIsNotThereIsDenied() throws {
        var test = Harness.announced()
        test.send(.received(try inbound(ask(host, .aaaa))))
        #expect(test.sent.map(\.message) == [response([hostNSEC])])
    }

    @Test("Answers with shared records are delayed uniformly by 20 to 120 ms")
    func sharedRecordsWait20To120MillisecondsUniformly() throws {
        var delays: [Duration] = []
        for seed in 0..<200 as Range<UInt64> {
            var test = Harness.announced(seed: seed)
            let asked = test.now
            test.send(.received(try inbound(ask(type, .ptr))))
            #expect(test.log.isEmpty)
            test.run(for: .milliseconds(121))
            delays.append(try #require(test.sent.first).time - asked)
            #expect(test.sent[0].message == response([pointer()], [srv(), txt(), address(), hostNSEC]))
        }
        #expect(delays.allSatisfy { (.milliseconds(20) ... .milliseconds(120)).contains($0) })
        #expect(delays.filter { $0 < .milliseconds(45) }.count > 25)
        #expect(delays.filter { $0 > .milliseconds(95) }.count > 25)
    }

    @Test("Two queries in quick succession are answered in one packet")
    func twoQueriesBackToBackGetOnePacket() throws {
        var test = Harness.announced()
        test.send(.received(try inbound(ask(type, .ptr))))
        let both = Message(questions: [Question(name: instance, type: .txt), Question(name: host, type: .a)])
        test.send(.received(try inbound(both)))
        test.run(for: .seconds(2))
        #expect(test.sent.count == 1)
        #expect(Set(test.sent[0].message.answers) == [pointer(), txt(), address()])
    }

    @Test("A known answer with at least half of its lifetime left suppresses the answer")
    func knownAnswersSuppressUntilHalfOfTheirLife() throws {
        var test = Harness.announced()
        test.send(.received(try inbound(ask(type, .ptr, known: [pointer(ttl: 2250)]))))
        test.run(for: .seconds(1))
        #expect(test.log.isEmpty)
        test.send(.received(try inbound(ask(type, .ptr, known: [pointer(ttl: 2249)]))))
        test.run(for: .seconds(1))
        #expect(test.sent.count == 1)
    }

    @Test("The answer to a truncated query waits for further known answers of the same host")
    func truncatedQueriesWaitForMoreKnownAnswers() throws {
        var test = Harness.announced()
        var first = ask(type, .ptr)
        first.flags = .truncated
        test.send(.received(try inbound(first)))
        let asked = test.now
        test.run(for: .milliseconds(399))
        test.send(.received(try inbound(Message(answers: [pointer()]))))
        test.run(for: .seconds(1))
        #expect(test.log.isEmpty)
        // Known answers of a different host do not count.
        let again = test.now
        test.send(.received(try inbound(first)))
        let other = Peer(address: .v4(10, 0, 0, 98), port: 5353)
        test.send(.received(try inbound(Message(answers: [pointer()]), from: other)))
        test.run(for: .seconds(1))
        let delay = try #require(test.sent.first).time - again
        #expect((.milliseconds(400) ... .milliseconds(500)).contains(delay))
        #expect(again > asked)
    }

    @Test("A delayed answer is dropped if another host sends the same answer first")
    func anAnswerThatAnotherHostGivesIsSpared() throws {
        var test = Harness.announced()
        test.send(.received(try inbound(ask(type, .ptr))))
        test.send(.received(try inbound(response([pointer()]))))
        test.run(for: .seconds(1))
        #expect(test.log.isEmpty)
    }

    @Test("A goodbye of another host for our record is answered with the record")
    func aRecordThatSomebodyLetsDieIsRescued() throws {
        var test = Harness.announced()
        test.send(.received(try inbound(response([pointer(ttl: 0)]))))
        #expect(test.sent.map(\.message.answers) == [[pointer()]])
    }

    @Test("A record is multicast at most once per second")
    func aRecordIsMulticastOnceASecond() throws {
        var test = Harness.announced()
        let start = test.now
        for _ in 0..<100 {
            test.send(.received(try inbound(ask(instance, .srv))))
            test.run(for: .milliseconds(30))
        }
        #expect(test.sent.map { $0.time - start } == [.zero, .seconds(1), .seconds(2), .seconds(3)])
    }

    @Test("Probes are answered immediately, at most every 250 ms")
    func aProbeIsAnsweredAtOnceAndEvery250Milliseconds() throws {
        var test = Harness.announced()
        let start = test.now
        let probe = Message(questions: [Question(name: instance, type: .any)], authorities: [srv(99)])
        for _ in 0..<3 {
            test.send(.received(try inbound(probe)))
            test.run(for: .milliseconds(100))
        }
        test.run(for: .seconds(1))
        #expect(test.sent.map { $0.time - start } == [.zero, .milliseconds(250)])
        #expect(test.sent.allSatisfy { Set($0.message.answers) == [srv(), txt()] })
    }

    @Test("Our own probe that arrives late is ignored")
    func ourOwnProbeComeBackLateIsLeftAlone() throws {
        var test = Harness.announced()
        let probe = Message(
            questions: [Question(name: instance, type: .any)], authorities: [srv().withoutFlush, txt().withoutFlush])
        test.send(.received(try inbound(probe)))
        test.run(for: .seconds(1))
        #expect(test.log.isEmpty)
    }

    @Test("A legacy resolver gets a conventional unicast DNS answer")
    func aLegacyResolverGetsAUnicastDNSAnswer() throws {
        var test = Harness.announced()
        var query = ask(instance, .srv)
        query.id = 77
        let resolver = Peer(address: .v4(10, 0, 0, 9), port: 40000)
        test.send(.received(try inbound(query, from: resolver)))
        let sent = try #require(test.sent.first)
        #expect(test.sent.count == 1)
        #expect(sent.datagram.destination == .unicast(resolver.address, port: 40000))
        #expect(sent.message.id == 77)
        #expect(sent.message.questions == query.questions)
        #expect(sent.message.answers == [srv(ttl: 10).withoutFlush])
        #expect(sent.message.additionals == [address(ttl: 10).withoutFlush])
    }

    @Test("Packets from outside the link, from wrong ports and unknown interfaces are ignored")
    func packetsFromElsewhereAreIgnored() throws {
        var test = Harness.announced()
        let distant = Peer(address: .v4(192, 0, 2, 1), port: 5353)
        test.send(.received(try inbound(ask(instance, .srv), from: distant, wasMulticast: false)))
        let wrongPort = Peer(address: .v4(10, 0, 0, 9), port: 5354)
        test.send(.received(try inbound(response([srv(81)]), from: wrongPort)))
        test.send(.received(try inbound(ask(instance, .srv), on: 9)))
        test.run(for: .seconds(1))
        #expect(test.log.isEmpty)
    }

    @Test("An answer is sent in the address family of its question")
    func answersLeaveByTheFamilyOfTheQuestion() throws {
        let v6 = IPAddress.v6(IPv6Address(high: 0xFE80 << 48, low: 1))
        let dual = NetworkInterface(
            id: 2, name: "eth0", addresses: ethernet.addresses + [InterfaceAddress(v6, prefixLength: 64)])
        var test = Harness.announced(on: [dual])
        let asker = Peer(address: .v6(IPv6Address(high: 0xFE80 << 48, low: 9)), port: 5353)
        test.send(.received(try inbound(ask(host, .a), from: asker)))
        #expect(test.sent.map(\.datagram.destination) == [.multicast(.v6)])
        #expect(test.sent[0].message.additionals.first?.data == RecordData(v6))
    }
}
