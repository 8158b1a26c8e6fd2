import DNSWire
import MulticastDNS
import ProtocolCore
import Testing

/// Tests of the responder's rate limits (RFC 6762 §6, §7.2, §8, §8.4).
struct RateTests {
    private func service(_ text: String) -> RecordGroup {
        RecordGroup(name: instance, unique: [srv(), txt(text)], shared: [pointer()], requires: hostID)
    }

    @Test("The responder sends nothing in the day after its announcements")
    func aDayAfterTheAnnouncementsIsSilent() {
        var test = Harness.announced()
        test.run(for: .seconds(24 * 3600))
        #expect(test.log.isEmpty)
    }

    @Test("A change is announced immediately, without records that were sent in the previous second")
    func aChangeIsAnnouncedAtOnceWithWhatWasNotSentWithinASecond() throws {
        var test = Harness.announced()
        let changed = test.now
        test.send(.publish(serviceID, service("a=c")))
        test.run(for: .milliseconds(400))
        test.send(.publish(serviceID, service("a=d")))
        #expect(test.sent.map { $0.time - changed } == [.zero, .milliseconds(400)])
        #expect(test.sent.map(\.message.answers) == [[srv(), txt("a=c"), pointer()], [txt("a=d")]])
        test.clear()
        test.run(for: .seconds(30))
        let times = [1400, 3400, 7400].map { Duration.milliseconds($0) }
        #expect(test.sent.map { $0.time - changed } == times)
        #expect(test.sent.allSatisfy { $0.message.answers == [srv(), txt("a=d"), pointer()] })
    }

    @Test("After ten changes within a minute, further changes are announced together")
    func moreThanTenChangesAMinuteAreAnnouncedTogether() throws {
        var test = Harness.announced()
        let start = test.now
        for number in 1...40 {
            test.send(.publish(serviceID, service("n=\(number)")))
            test.run(for: .milliseconds(500))
        }
        test.run(for: .seconds(39))
        #expect(!test.sent.contains { $0.time - start > .seconds(13) })
        // Answers contain the newest data even while its announcement is delayed.
        test.send(.received(try inbound(ask(instance, .txt))))
        #expect(test.sent.last?.message.answers == [txt("n=40")])
        test.clear()
        test.run(for: .seconds(60))
        #expect(test.sent.map { $0.time - start } == [60, 61, 63, 67].map { .seconds($0) })
    }

    @Test("No record is multicast twice within a second")
    func noRecordIsMulticastTwiceWithinASecond() throws {
        for seed in 0..<20 as Range<UInt64> {
            var test = Harness.responder(seed: seed)
            var random = SeededRandom(seed: seed)
            for _ in 0..<600 {
                test.run(for: random.duration(in: .zero ... .milliseconds(60)))
                let question = [(instance, RecordType.any), (type, .ptr), (host, .a)].randomElement(using: &random)!
                test.send(.received(try inbound(ask(question.0, question.1))))
            }
            var last: [RecordData: Instant] = [:]
            for packet in test.sent where packet.message.flags.contains(.response) {
                for record in packet.message.answers where record.type != .nsec {
                    if let before = last[record.data] { #expect(packet.time - before >= .seconds(1)) }
                    last[record.data] = packet.time
                }
            }
            #expect(last.count == 4)
        }
    }

    @Test("Each further packet of known answers delays the answer")
    func eachFurtherPacketOfKnownAnswersPutsTheAnswerOff() throws {
        var test = Harness.announced()
        var first = ask(type, .ptr)
        first.flags = .truncated
        test.send(.received(try inbound(first)))
        let filler = Record(name: type, timeToLive: 4500, data: .ptr("Other._x._tcp.local"))
        for _ in 0..<5 {
            test.run(for: .milliseconds(390))
            test.send(.received(try inbound(Message(flags: .truncated, answers: [filler]))))
        }
        #expect(test.sent.isEmpty)
        let last = test.now
        test.run(for: .milliseconds(390))
        test.send(.received(try inbound(Message(answers: [filler]))))
        test.run(for: .seconds(1))
        #expect(test.sent.count == 1)
        let answered = try #require(test.sent.first).time
        #expect((.milliseconds(400) ... .milliseconds(500)).contains(answered - last))
    }

    @Test("Known answers of one host do not delay the answer to another host")
    func whatOthersWaitForIsNotPutOff() throws {
        var test = Harness.announced()
        var first = ask(type, .ptr)
        first.flags = .truncated
        test.send(.received(try inbound(first)))
        let other = Peer(address: .v4(10, 0, 0, 98), port: 5353)
        let asked = test.now
        test.send(.received(try inbound(ask(type, .ptr), from: other)))
        test.send(.received(try inbound(Message(flags: .truncated, answers: [txt()]))))
        test.run(for: .seconds(1))
        #expect(test.sent.count == 1)
        let answered = try #require(test.sent.first).time
        #expect(answered - asked <= .milliseconds(120))
    }

    @Test("The responder announces its names again after a suspend without reporting a claim")
    func aHostThatSleptProbesAndAnnouncesAgain() throws {
        var test = Harness.announced()
        let woke = test.now
        test.send(.resumed)
        test.run(for: .seconds(30))
        let start = try #require(test.sent.first).time
        #expect(start - woke <= .milliseconds(250))
        let times: [Duration] = [0, 250, 500, 750, 1750, 3750, 7750].map { .milliseconds($0) }
        #expect(test.sent.map { $0.time - start } == times)
        // The owner already knows that the name is claimed.
        #expect(!test.log.contains { $0.action == .claimed(serviceID) })
    }
}
