import DNSWire
import MulticastDNS
import ProtocolCore
import Testing

/// Tests of a host that resumes after a suspend, during which it missed claims and responses (RFC 6762 §8, §10.3).
struct ResumeTests {
    @Test("The responder probes its names again after a suspend")
    func aHostThatSleptClaimsItsNamesAgain() throws {
        var test = Harness.announced()
        let woken = test.now
        test.send(.resumed)
        test.run(for: .seconds(60))
        let first = try #require(test.sent.first).time
        #expect(first - woken <= .milliseconds(250))
        let times: [Duration] = [0, 250, 500, 750, 1750, 3750, 7750].map { .milliseconds($0) }
        #expect(test.sent.map { $0.time - first } == times)
        #expect(test.sent.prefix(3).map { $0.message.authorities.count } == [3, 3, 3])
    }

    @Test("A name that another host claimed during a suspend is a conflict")
    func aNameThatAnotherHostTookMeanwhileIsGivenUp() throws {
        var test = Harness.announced()
        test.send(.resumed)
        test.run(for: .milliseconds(300))
        test.send(.received(try inbound(response([srv(81)]))))
        #expect(test.conflicts.map(\.group) == [serviceID])
    }

    @Test("The querier restarts its questions after a suspend")
    func aHostThatSleptAsksAnew() throws {
        var test = Harness.querier()
        test.send(.ask(QuestionKey(name: type, type: .ptr), on: nil))
        test.run(for: .seconds(3000))
        test.clear()
        let woken = test.now
        test.send(.resumed)
        test.run(for: .seconds(2))
        let times = test.sent.map { $0.time - woken }
        #expect(times.count == 2)
        #expect(RFC6762.firstQueryDelay.contains(times[0]) && times[1] - times[0] == .seconds(1))
    }
}
