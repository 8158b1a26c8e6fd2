import DNSWire
import MulticastDNS
import ProtocolCore
import Testing

/// Tests of the querier's use of other hosts' queries (RFC 6762 §7.3, §10.5).
struct HeardQueryTests {
    private let browse = QuestionKey(name: type, type: .ptr)
    private let service = QuestionKey(name: instance, type: .srv)

    @Test("A question that another host has just asked is suppressed")
    func aQuestionThatAnotherHostHasJustAskedCountsAsAsked() throws {
        var test = Harness.querier()
        test.send(.ask(browse, on: nil))
        test.send(.received(try inbound(ask(type, .ptr))))
        test.run(for: .milliseconds(120))
        #expect(test.sent.isEmpty)
        // The next query is due one second after the suppressed one.
        test.run(for: .milliseconds(1000))
        #expect(test.sent.map(\.message) == [ask(type, .ptr)])
    }

    @Test("A question of another host suppresses ours only in the second half of the interval")
    func onlyTheLaterHalfOfAnIntervalCounts() throws {
        var test = Harness.querier()
        test.send(.ask(browse, on: nil))
        test.run(for: .milliseconds(120))
        let first = try #require(test.sent.first?.time)
        test.clear()
        test.run(for: first + .milliseconds(499) - test.now)
        test.send(.received(try inbound(ask(type, .ptr))))
        test.run(for: .milliseconds(600))
        #expect(test.sent.map(\.time) == [first + .seconds(1)])
        // The next interval is two seconds, and its later half begins one second before it ends.
        test.clear()
        test.run(for: first + .seconds(2) - test.now)
        test.send(.received(try inbound(ask(type, .ptr))))
        test.run(for: first + .milliseconds(6999) - test.now)
        #expect(test.sent.isEmpty)
        test.run(for: .milliseconds(1))
        #expect(test.sent.count == 1)
    }

    @Test(
        "Another host's query does not suppress ours if its answers would not include all answers that we need",
        arguments: 0..<5)
    func whatDoesNotServeUsIsNoDuplicate(kind: Int) throws {
        var test = Harness.querier()
        test.send(.ask(browse, on: nil))
        var query = ask(type, .ptr)
        var source = stranger
        switch kind {
        case 0: query.questions[0].wantsUnicast = true
        case 1: query.flags = .truncated
        // The query has a known answer that we do not have, and the answers would omit it.
        case 2: query.answers = [pointer()]
        case 3: source.port = 40_000
        default: query = ask("_y._tcp.local", .ptr)
        }
        test.send(.received(try inbound(query, from: source)))
        test.run(for: .milliseconds(120))
        #expect(test.sent.map(\.message) == [ask(type, .ptr)])
    }

    @Test("A query of another host suppresses ours if we have all of its known answers")
    func knownAnswersThatWeWouldListOurselvesSpareTheQuestion() throws {
        var test = Harness.querier()
        test.send(.ask(browse, on: nil))
        test.send(.received(try inbound(response([pointer()]))))
        test.send(.received(try inbound(ask(type, .ptr, known: [pointer(ttl: 4000)]))))
        test.run(for: .milliseconds(120))
        #expect(test.sent.isEmpty)
    }

    @Test("A query is suppressed only in the address family in which it was heard")
    func familiesAreSparedOneByOne() throws {
        var test = Harness(Querier(random: SeededRandom(seed: 1)))
        let v6 = InterfaceAddress(.v6(IPv6Address(high: 0xFE80 << 48, low: 1)), prefixLength: 64)
        test.send(
            .interfaceChanged(NetworkInterface(id: 2, name: "eth0", addresses: ethernet.addresses + [v6])))
        test.send(.ask(browse, on: nil))
        test.send(.received(try inbound(ask(type, .ptr))))
        test.run(for: .milliseconds(120))
        let destinations = test.log.compactMap { entry -> OutboundDatagram.Destination? in
            guard case .send(let datagram) = entry.action else { return nil }
            return datagram.destination
        }
        #expect(destinations == [.multicast(.v6)])
    }

    @Test("Queries of another host suppress refreshes")
    func aRefreshIsSparedToo() throws {
        var test = Harness.querier()
        test.send(.ask(service, on: nil))
        test.send(.received(try inbound(response([srv()]))))
        // The refresh at 80 % comes between 96 and 98.4 s.
        test.run(for: .milliseconds(95_600))
        while test.now < Instant.zero + .milliseconds(98_400) {
            test.send(.received(try inbound(ask(instance, .srv))))
            test.run(for: .milliseconds(400))
        }
        #expect(test.sent.isEmpty)
    }

    @Test("After four unanswered queries of other hosts, a record is verified and then expires")
    func fourUnansweredQueriesOfOthersBringARecordUnderDoubt() throws {
        var test = Harness.querier()
        test.send(.ask(service, on: nil))
        test.send(.received(try inbound(response([srv()]))))
        for _ in 1...3 {
            test.run(for: .seconds(2))
            test.send(.received(try inbound(ask(instance, .srv))))
        }
        test.run(for: .seconds(20))
        #expect(test.sent.isEmpty)
        test.clear()
        let doubted = test.now
        test.send(.received(try inbound(ask(instance, .srv))))
        test.run(for: .seconds(10))
        // The other hosts have just asked; our own queries follow at 2.5, 5 and 7.5 s.
        #expect(test.sent.prefix(3).map { $0.time - doubted } == [2500, 5000, 7500].map { .milliseconds($0) })
        #expect(test.changes.map(\.change) == [.removed(srv())])
        #expect(test.changes.first?.time == doubted + .seconds(10))
    }

    @Test("The records of a peer that answers only the fourth query are kept")
    func aSlowPeerThatAnswersTheFourthIsKept() throws {
        var test = Harness.querier()
        test.send(.ask(service, on: nil))
        test.send(.received(try inbound(response([srv()]))))
        for _ in 1...8 {
            for _ in 1...4 {
                test.run(for: .seconds(2))
                test.send(.received(try inbound(ask(instance, .srv))))
            }
            test.run(for: .seconds(9))
            test.send(.received(try inbound(response([srv()]))))
        }
        #expect(test.changes.map(\.change) == [.added(srv())])
    }

    @Test("Queries that need no answer do not count as unanswered")
    func whatNeedsNoAnswerCountsNot() throws {
        var test = Harness.querier()
        test.send(.ask(service, on: nil))
        for _ in 1...10 {
            // The first query needs no answer, because the record was multicast less than a second before. The second
            // query lists the record as a known answer.
            test.send(.received(try inbound(response([srv()]))))
            test.run(for: .milliseconds(900))
            test.send(.received(try inbound(ask(instance, .srv))))
            test.run(for: .milliseconds(200))
            test.send(.received(try inbound(ask(instance, .srv, known: [srv(ttl: 61)]))))
            // Queries that arrive at the same time count as one, because a host may ask in both address families.
            for _ in 1...10 { test.send(.received(try inbound(ask(instance, .srv)))) }
            test.run(for: .milliseconds(10))
        }
        test.run(for: .seconds(50))
        #expect(test.sent.isEmpty)
        #expect(test.changes.map(\.change) == [.added(srv())])
    }

    @Test("The querier restarts its questions after a suspend")
    func aHostThatSleptAsksAnew() throws {
        var test = Harness.querier()
        test.send(.ask(browse, on: nil))
        test.run(for: .seconds(3600))
        test.clear()
        let woke = test.now
        test.send(.resumed)
        test.run(for: .seconds(4))
        let times = test.sent.map { $0.time - woke }
        #expect(times.count == 3 && times[0] >= .milliseconds(20) && times[0] <= .milliseconds(120))
        #expect(times.map { $0 - times[0] } == [.zero, .seconds(1), .seconds(3)])
    }
}
