import Automation
import ProtocolCore
import Testing

@testable import Effects

/// Runs the queue in virtual time.
@Suite("The queue of notifications") struct NotificationQueueTests {
    private typealias Action = NotificationQueue.Action

    /// A queue and its clock.
    private struct Run {
        var queue: NotificationQueue
        var now = Instant.zero
        var last: UInt64 = 0

        init(_ limits: NotificationQueue.Limits = .init()) { queue = NotificationQueue(limits) }

        mutating func come() -> [Action] {
            last += 1
            return queue.handle(.came(last), now: now)
        }

        mutating func answer(_ number: UInt64, _ answer: NotificationQueue.Answer = .taken) -> [Action] {
            queue.handle(.answered(number, answer), now: now)
        }

        mutating func withdraw(_ number: UInt64) -> [Action] { queue.handle(.withdrawn(number), now: now) }

        /// Advances the clock to the next deadline.
        mutating func wait() -> [Action] {
            guard let next = queue.nextDeadline else { return [] }
            now = max(now, next)
            return queue.handle(.deadlineReached, now: now)
        }

        mutating func pass(_ duration: Duration) { now = now + duration }
    }

    private static let busy = NotificationQueue.Answer.failed("busy", isRetryable: true)
    private static let wrong = NotificationQueue.Answer.failed("no such topic", isRetryable: false)

    @Test("A notification that the receiver accepts is finished as done") func whatIsTakenIsDone() {
        var run = Run()
        #expect(run.come() == [.attempt(1, leftOut: 0)])
        #expect(run.answer(1) == [.finish(1, .done)])
        #expect(run.queue.nextDeadline == nil)
    }

    @Test("A receiver may request a longer pause, but none beyond the time limit")
    func requestedPause() {
        var run = Run()
        _ = run.come()
        #expect(run.answer(1, .failed("busy", isRetryable: true, after: .seconds(60))).isEmpty)
        #expect(run.queue.nextDeadline == .zero + .seconds(60))
        #expect(run.wait() == [.attempt(1, leftOut: 0)])
        #expect(run.answer(1, .failed("busy", isRetryable: true, after: .seconds(2))).isEmpty)
        #expect(run.queue.nextDeadline == .zero + .seconds(65))
        _ = run.wait()
        let actions = run.answer(1, .failed("busy", isRetryable: true, after: .seconds(999_999)))
        #expect(actions == [.finish(1, .failed("busy (tried 3 times)"))])
    }

    @Test("A failed attempt is retried after 1, 5, 30 and then every 120 seconds, until the time limit")
    func whatIsNotTakenIsTriedAgainEverMoreSeldom() {
        var run = Run()
        var actions = run.come()
        var times: [Double] = []
        while actions == [.attempt(1, leftOut: 0)] {
            times.append((run.now - .zero).inSeconds)
            actions = run.answer(1, Self.busy)
            if actions.isEmpty { actions = run.wait() }
        }
        #expect(times == [0, 1, 6, 36, 156, 276, 396, 516])
        // The notification fails at this attempt, because a further attempt would be after its time limit.
        #expect(run.now == .zero + .seconds(516))
        #expect(actions == [.finish(1, .failed("busy (tried 8 times)"))] && run.queue.nextDeadline == nil)
    }

    @Test("A permanent failure is not retried") func whatNobodyWillTakeIsTriedOnce() {
        var run = Run()
        _ = run.come()
        #expect(run.answer(1, Self.wrong) == [.finish(1, .failed("no such topic"))])
    }

    @Test("A notification that waits for a retry does not block the others") func oneThatWaitsHoldsUpNoOther() {
        var run = Run()
        _ = run.come()
        #expect(run.come().isEmpty, "a second attempt began during the first one")
        #expect(run.answer(1, Self.busy) == [.attempt(2, leftOut: 0)])
        run.pass(.seconds(3))
        #expect(run.answer(2) == [.finish(2, .done), .attempt(1, leftOut: 0)])
        #expect(run.answer(1) == [.finish(1, .done)])
    }

    @Test("Beyond the limit per minute notifications are dropped, and the next one reports the number")
    func soManyAMinuteAndTheNextOneSaysHowManyWereLeftOut() {
        var limits = NotificationQueue.Limits()
        limits.perMinute = 3
        var run = Run(limits)
        for number in UInt64(1)...3 {
            #expect(run.come() == [.attempt(number, leftOut: 0)])
            #expect(run.answer(number) == [.finish(number, .done)])
            run.pass(.seconds(1))
        }
        let told = EffectOutcome.failed("dropped: more than 3 within a minute")
        for number in UInt64(4)...60 {
            #expect(run.come() == [.finish(number, told)])
            run.pass(.seconds(1))
        }
        // The first notification was accepted a minute ago, so the limit permits another one.
        #expect(run.come() == [.attempt(61, leftOut: 57)])
        // The dropped notifications count as reported only after a successful attempt.
        #expect(run.answer(61, Self.busy).isEmpty)
        #expect(run.wait() == [.attempt(61, leftOut: 57)])
        #expect(run.answer(61) == [.finish(61, .done)])
        #expect(run.come() == [.attempt(62, leftOut: 0)])
    }

    @Test("A receiver that hangs accumulates only as many notifications as the limit allows")
    func whoeverHangsGathersNoMoreThanTheLimit() {
        var limits = NotificationQueue.Limits()
        (limits.perMinute, limits.underWay) = (600, 4)
        var run = Run(limits)
        #expect(run.come() == [.attempt(1, leftOut: 0)])
        for _ in 2...4 { #expect(run.come().isEmpty) }
        #expect(run.come() == [.finish(5, .failed("dropped: 4 others are still waiting"))])
        #expect(run.answer(1) == [.finish(1, .done), .attempt(2, leftOut: 1)])
        // If the attempt never ends, the waiting notifications still expire.
        let words = EffectOutcome.failed("it was not sent because earlier notifications took too long")
        #expect(run.wait() == [.finish(3, words), .finish(4, words)])
        #expect(run.queue.nextDeadline == nil)
        #expect(run.answer(2, Self.busy) == [.finish(2, .failed("busy"))])
    }

    @Test("A withdrawn notification is removed") func whatIsWithdrawnIsForgotten() {
        var run = Run()
        _ = run.come()
        _ = run.come()
        #expect(run.withdraw(2).isEmpty && run.withdraw(1).isEmpty)
        #expect(run.come().isEmpty, "the attempt of the withdrawn notification is not over yet")
        #expect(run.answer(1) == [.attempt(3, leftOut: 0)])
        #expect(run.answer(1).isEmpty && run.answer(3) == [.finish(3, .done)])
    }

    /// Each notification is finished once or withdrawn, attempts do not overlap, and the limits hold.
    @Test(
        "Under random events nothing is lost and no limit is exceeded",
        arguments: 0..<50)
    func nothingIsLostAndNothingGrows(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var limits = NotificationQueue.Limits()
        (limits.perMinute, limits.underWay) = (.random(in: 1...20, using: &random), .random(in: 1...10, using: &random))
        var run = Run(limits)
        var open: Set<UInt64> = []
        var tried: UInt64?
        var begun: [Instant] = []
        func take(_ actions: [Action], answered: UInt64? = nil) {
            if answered == tried { tried = nil }
            for action in actions {
                switch action {
                case .attempt(let number, let leftOut):
                    #expect(tried == nil && open.contains(number) && leftOut >= 0)
                    tried = number
                case .finish(let number, _): #expect(open.remove(number) != nil)
                }
            }
            #expect(open.count <= limits.underWay)
        }
        for _ in 0..<400 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                open.insert(run.last + 1)
                let actions = run.come()
                let isRefused = actions.contains { if case .finish(run.last, _) = $0 { true } else { false } }
                if !isRefused { begun.append(run.now) }
                take(actions)
            case 3...5:
                guard let number = tried else { continue }
                let answer = [NotificationQueue.Answer.taken, Self.busy, Self.wrong].randomElement(using: &random)!
                take(run.answer(number, answer), answered: number)
            case 6:
                guard let number = open.sorted().randomElement(using: &random) else { continue }
                open.remove(number)
                take(run.withdraw(number))
            case _:
                if Bool.random(using: &random) { run.pass(.milliseconds(Int.random(in: 0...9000, using: &random))) }
                take(run.wait())
            }
        }
        for first in begun.indices where first + limits.perMinute < begun.count {
            #expect(begun[first + limits.perMinute] - begun[first] >= .seconds(60))
        }
        while !open.isEmpty {
            guard tried != nil || run.queue.nextDeadline != nil else {
                Issue.record("notifications \(open) wait without a deadline")
                return
            }
            if let number = tried { take(run.answer(number, .taken), answered: number) } else { take(run.wait()) }
        }
    }
}
