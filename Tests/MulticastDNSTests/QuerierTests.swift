import DNSWire
import MulticastDNS
import ProtocolCore
import Testing

struct QuerierTests {
    private let browse = QuestionKey(name: type, type: .ptr)
    private let service = QuestionKey(name: instance, type: .srv)

    @Test("The interval of a question doubles up to one hour")
    func questionsAreAskedEverMoreSeldom() throws {
        var test = Harness.querier()
        test.send(.ask(browse, on: nil))
        test.run(for: .seconds(4 * 3600))
        let first = try #require(test.sent.first?.time)
        #expect((Instant.zero + .milliseconds(20)...(Instant.zero + .milliseconds(120))).contains(first))
        let steps = zip(test.sent, test.sent.dropFirst()).map { $1.time - $0.time }
        let doubling = (0..<12).map { Duration.seconds(1 << $0) }
        #expect(Array(steps.prefix(12)) == doubling)
        #expect(steps.dropFirst(12).allSatisfy { $0 == .seconds(3600) })
        #expect(test.sent[0].message == ask(type, .ptr))
    }

    @Test("Questions that start together share a packet")
    func questionsThatBeginTogetherShareAPacket() throws {
        var test = Harness.querier()
        for number in 0..<20 {
            test.send(.ask(QuestionKey(name: try Name(presentation: "n\(number).local"), type: .a), on: nil))
        }
        test.run(for: .milliseconds(200))
        #expect(test.sent.map(\.message.questions.count) == [20])
    }

    @Test("A unicast response is not cached")
    func whatIsSentToItAloneIsNotBelieved() throws {
        var test = Harness.querier()
        test.send(.ask(service, on: nil))
        test.run(for: .milliseconds(200))
        test.send(.received(try inbound(response([srv()]), wasMulticast: false)))
        #expect(test.changes.isEmpty)
        test.send(.received(try inbound(response([srv()]))))
        #expect(test.changes.count == 1)
    }

    @Test("Records without a question are kept only on request", arguments: [true, false])
    func recordsWithoutQuestion(_ keepsAllRecords: Bool) throws {
        var test = Harness.querier(keepsAllRecords: keepsAllRecords)
        test.send(.received(try inbound(response([srv()]))))
        #expect(test.machine.records(for: service, on: ethernet.id).isEmpty, "no question is active")
        test.send(.ask(browse, on: nil))
        test.send(.received(try inbound(response([pointer(), srv()]))))
        #expect(test.machine.records(for: browse, on: ethernet.id) == [pointer()])
        #expect(test.machine.records(for: service, on: ethernet.id) == (keepsAllRecords ? [srv()] : []))
    }

    @Test("A unique answer stops the question until the record is refreshed")
    func aUniqueAnswerEndsTheAskingUntilItAges() throws {
        var test = Harness.querier()
        test.send(.ask(service, on: nil))
        test.run(for: .milliseconds(200))
        test.send(.received(try inbound(response([srv()]))))
        let heard = test.now
        test.clear()
        test.run(for: .seconds(125))
        let times = test.sent.map { $0.time - heard }
        for (time, percent) in zip(times, RFC6762.refreshPercentages) {
            let exact = Duration.seconds(120) * percent / 100
            #expect((exact...(exact + .milliseconds(2400))).contains(time))
        }
        // Four refreshes are followed by the expiry after 120 s, and the question restarts.
        #expect(test.changes.map(\.change) == [.removed(srv())])
        #expect(test.changes.first?.time == heard + .seconds(120))
        #expect(times.count > 4)
        #expect(times[4] >= .milliseconds(120_020))
    }

    @Test("Records that are due for a refresh share a query")
    func oneQueryAsksForAllRecordsThatAreToBeRefreshedThen() throws {
        var test = Harness.querier()
        test.send(.ask(browse, on: nil))
        test.run(for: .milliseconds(200))
        let heard = test.now
        // Each record is in a separate packet, so that each has its own refresh jitter.
        for number in 0..<200 {
            let name = try Name(presentation: "n\(number)._x._tcp.local")
            test.send(.received(try inbound(response([Record(name: type, timeToLive: 4500, data: .ptr(name))]))))
            test.run(for: .milliseconds(10))
        }
        test.run(for: .seconds(3590))
        test.clear()
        test.run(for: .seconds(905))
        let parts = test.sent.map { ($0.time - heard) / .seconds(4500) * 100 }
        // Each record is refreshed at 80, 85, 90 and 95 % of its lifetime, plus a random 0 to 2 %. The records arrived
        // during two seconds, so several queries may be needed. The browse itself also sends one query.
        #expect((4...30).contains(parts.count), "\(parts)")
        #expect(parts.allSatisfy { $0 >= 80 })
        for percent in [80.0, 85, 90, 95] { #expect(parts.contains { $0 >= percent && $0 < percent + 2.1 }) }
    }

    @Test("A refreshed record does not expire")
    func aRefreshedRecordLivesOn() throws {
        var test = Harness.querier()
        test.send(.ask(service, on: nil))
        test.send(.received(try inbound(response([srv()]))))
        for _ in 0..<10 {
            test.clear()
            test.run(for: .seconds(100))
            #expect(test.sent.count == 1)
            test.send(.received(try inbound(response([srv()]))))
        }
        #expect(test.changes.isEmpty)
    }

    @Test("A query lists a known answer during the first half of its lifetime")
    func knownAnswersStandInTheQueryWhileHalfOfTheirLifeIsLeft() throws {
        var test = Harness.querier()
        test.send(.ask(browse, on: nil))
        test.send(.received(try inbound(response([pointer(ttl: 100)]))))
        test.run(for: .seconds(10))
        #expect(test.sent.last?.message.answers.map(\.data) == [pointer().data])
        let last = try #require(test.sent.last)
        #expect(last.message.answers[0].timeToLive == UInt32(99 - last.time.nanoseconds / 1_000_000_000))
        test.clear()
        test.run(for: .seconds(58))
        #expect(test.sent.last?.message.answers.isEmpty == true)
    }

    @Test("Many known answers are continued in further packets")
    func manyKnownAnswersContinueInFurtherPackets() throws {
        var test = Harness.querier()
        test.send(.ask(browse, on: nil))
        for number in 0..<200 {
            let name = try Name(presentation: "Service number \(number)._x._tcp.local")
            test.send(.received(try inbound(response([Record(name: type, timeToLive: 4500, data: .ptr(name))]))))
        }
        test.run(for: .milliseconds(200))
        let packets = test.sent.map(\.message)
        #expect(packets.count > 2)
        #expect(packets.dropLast().allSatisfy { $0.flags == .truncated } && packets.last?.flags == [])
        #expect(packets.map(\.questions.count) == [1] + [Int](repeating: 0, count: packets.count - 1))
        #expect(Set(packets.flatMap(\.answers)).count == 200)
    }

    @Test("A goodbye removes the record after one second unless it is announced again")
    func aGoodbyeTakesEffectAfterASecondUnlessItIsContradicted() throws {
        var test = Harness.querier()
        test.send(.ask(browse, on: nil))
        test.send(.received(try inbound(response([pointer()]))))
        test.run(for: .seconds(5))
        test.clear()
        test.send(.received(try inbound(response([pointer(ttl: 0)]))))
        test.run(for: .milliseconds(900))
        test.send(.received(try inbound(response([pointer()]))))
        test.run(for: .seconds(5))
        #expect(test.changes.isEmpty)
        let goodbye = test.now
        test.send(.received(try inbound(response([pointer(ttl: 0)]))))
        test.run(for: .seconds(5))
        #expect(test.changes.map(\.change) == [.removed(pointer())])
        #expect(test.changes.first?.time == goodbye + .seconds(1))
    }

    @Test("The cache-flush bit replaces records that are older than one second")
    func theCacheFlushBitReplacesWhatIsOlderThanASecond() throws {
        var test = Harness.querier()
        let key = QuestionKey(name: host, type: .a)
        test.send(.ask(key, on: nil))
        test.send(.received(try inbound(response([address(1)]))))
        test.run(for: .milliseconds(900))
        test.send(.received(try inbound(response([address(2)]))))
        test.run(for: .seconds(5))
        #expect(Set(test.machine.records(for: key, on: 2)) == [address(1), address(2)])
        let flushed = test.now
        test.send(.received(try inbound(response([address(3)]))))
        #expect(test.machine.records(for: key, on: 2) == [address(3)])
        test.clear()
        test.run(for: .seconds(5))
        #expect(test.changes.map(\.time) == [flushed + .seconds(1), flushed + .seconds(1)])
    }

    @Test("Records without a question are not cached")
    func whoAsksNothingKeepsNothing() throws {
        var test = Harness.querier()
        test.send(.received(try inbound(response([pointer(), srv(), txt(), address()]))))
        #expect(test.log.isEmpty)
        #expect(test.machine.records(for: service, on: 2).isEmpty)
        #expect(test.machine.nextDeadline == nil)
    }

    @Test("A negative response stops the question")
    func aDenialEndsTheAskingToo() throws {
        var test = Harness.querier()
        test.send(.ask(QuestionKey(name: host, type: .aaaa), on: nil))
        test.run(for: .milliseconds(200))
        test.send(.received(try inbound(response([hostNSEC]))))
        test.clear()
        test.run(for: .seconds(60))
        #expect(test.sent.isEmpty)
    }

    @Test("A question stops when its last asker forgets it")
    func whatIsForgottenIsNotAsked() {
        var test = Harness.querier()
        test.send(.ask(browse, on: nil))
        test.send(.ask(browse, on: nil))
        test.send(.forget(browse, on: nil))
        test.run(for: .seconds(1))
        #expect(!test.sent.isEmpty)
        test.send(.forget(browse, on: nil))
        test.clear()
        test.run(for: .seconds(60))
        #expect(test.sent.isEmpty)
        #expect(test.machine.nextDeadline == nil)
    }

    private func flooding(_ number: Int) -> Name {
        do { return try Name(presentation: "flood-\(number)._x._tcp.local") } catch { preconditionFailure("\(error)") }
    }

    private func flood(_ test: inout Harness<Querier>, packets: Int) throws {
        for packet in 0..<packets {
            let records = (0..<20).map {
                Record(name: type, timeToLive: 4500, data: .ptr(flooding(packet * 20 + $0)))
            }
            test.send(.received(try inbound(response(records))))
        }
    }

    @Test("Priority records are kept during a flood of other records", arguments: [0, 1, 2])
    func whatMattersIsKeptInAFlood(place: Int) throws {
        var test = Harness.querier()
        test.send(.ask(browse, on: nil))
        test.send(.prioritize([instance, host]))
        let service = try inbound(response([pointer()], [srv(), txt(), address()]))
        if place == 0 { test.send(.received(service)) }
        try flood(&test, packets: 200)
        if place == 1 { test.send(.received(service)) }
        try flood(&test, packets: 400)
        if place == 2 { test.send(.received(service)) }
        #expect(test.machine.records(for: browse, on: 2).contains { $0.data == .ptr(instance) })
        for (name, type) in [(instance, RecordType.srv), (instance, .txt), (host, .a)] {
            #expect(test.machine.records(for: QuestionKey(name: name, type: type), on: 2).count == 1)
        }
        #expect(!test.changes.contains { $0.change == .removed(pointer()) })
        // Forged records with a priority name can use only the 16 places of that name.
        for port in 0..<200 {
            var forged = srv(UInt16(port))
            forged.isCacheFlush = false
            test.send(.received(try inbound(response([forged]))))
        }
        #expect(test.machine.records(for: QuestionKey(name: instance, type: .srv), on: 2).count == 16)
        // A cache-flush bit on a pointer does not remove priority records.
        test.run(for: .seconds(5))
        var only = Record(name: type, timeToLive: 4500, data: .ptr(flooding(-1)))
        only.isCacheFlush = true
        test.send(.received(try inbound(response([only]))))
        test.run(for: .seconds(5))
        #expect(test.machine.records(for: browse, on: 2).map(\.data) == [.ptr(flooding(-1)), .ptr(instance)])
        // Without priority the record can be evicted like all others.
        test.send(.prioritize([]))
        try flood(&test, packets: 400)
        #expect(!test.machine.records(for: browse, on: 2).contains { $0.data == .ptr(instance) })
        test.run(for: .seconds(5000))
        #expect(test.machine.records(for: browse, on: 2).isEmpty)
    }

    @Test("A flood of records is limited, and the oldest records are evicted")
    func aFloodDoesNotFillTheMemory() throws {
        var test = Harness.querier()
        test.send(.ask(browse, on: nil))
        try flood(&test, packets: 400)
        let kept = test.machine.records(for: browse, on: 2)
        #expect((4600...5000).contains(kept.count))
        // The oldest records were evicted, and each eviction was reported as a removal.
        let left = test.changes.compactMap { if case .removed(let record) = $0.change { record.data } else { nil } }
        #expect(left.count == 8000 - kept.count && left == (0..<left.count).map { .ptr(flooding($0)) })
        test.clear()
        test.run(for: .milliseconds(300))
        #expect(test.sent.count <= 32)
    }
}
