import ProtocolCore
import SleepClient
import Testing

struct WakeAttemptTests {
    /// Runs an attempt whose machine answers each check from a time on; nil for never.
    private func run(
        answersFrom time: Duration?, limit: Duration = .seconds(60)
    ) -> (packets: [Duration], checks: Int, outcome: WakeOutcome?, at: Duration) {
        var (now, packets, checks): (Instant, [Duration], Int) = (.zero, [], 0)
        var attempt = WakeAttempt(now: now, limit: limit)
        var outcome: WakeOutcome?
        var events: [WakeAttempt.Event] = []
        while true {
            if events.isEmpty {
                guard let next = attempt.nextDeadline else { break }
                now = max(now, next)
                events = [.deadlineReached]
            }
            for action in attempt.handle(events.removeFirst(), now: now) {
                switch action {
                case .send: packets.append(now - .zero)
                case .check:
                    checks += 1
                    if let time, now - .zero >= time { events.append(.answered(ago: .zero)) }
                case .finished(let result): outcome = result
                }
            }
        }
        return (packets, checks, outcome, now - .zero)
    }

    @Test("The outcome has the time from the first packet to the answer") func awake() {
        let result = run(answersFrom: .milliseconds(3_200))
        #expect(result.outcome == .awake(after: .seconds(4)))
        #expect(result.outcome?.description == "awake after 4 s")
        #expect(result.packets == [.zero, .milliseconds(500), .milliseconds(2_500)])
    }

    @Test("Without an answer, the attempt sends five packets within its limit of 30 s, and then ends") func silent() {
        let result = run(answersFrom: nil, limit: .seconds(30))
        #expect(result.outcome == .didNotWake)
        #expect(result.outcome?.description == "did not wake")
        #expect(result.at == .seconds(30))
        #expect(
            result.packets == [
                .zero, .milliseconds(500), .milliseconds(2_500), .milliseconds(7_500), .milliseconds(17_500),
            ])
        #expect(result.checks == 30)
    }

    @Test("A machine that is awake answers the first check") func alreadyAwake() {
        #expect(run(answersFrom: .zero).outcome == .awake(after: .zero))
    }

    @Test("An answer from before the attempt does not count, and one after the end changes nothing") func oldAnswer() {
        let start = Instant.zero + .seconds(100)
        var attempt = WakeAttempt(now: start, limit: .seconds(10))
        #expect(attempt.handle(.answered(ago: .seconds(3)), now: start + .seconds(2)) == [.send, .check])
        #expect(
            attempt.handle(.answered(ago: .seconds(1)), now: start + .seconds(3)) == [
                .finished(.awake(after: .seconds(2)))
            ])
        #expect(attempt.handle(.answered(ago: .zero), now: start + .seconds(4)) == [])
        #expect(attempt.nextDeadline == nil)
    }
}
