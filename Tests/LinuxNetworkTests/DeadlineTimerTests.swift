import LinuxNetwork
import NIOCore
import NIOEmbedded
import ProtocolCore
import Synchronization
import Testing

@Suite("Timers of deadlines") struct DeadlineTimerTests {
    /// A timer on an event loop whose time the test controls. The machine's clock advances with the loop's time.
    /// Deadlines are in seconds after the creation of this object.
    private final class TimedLoop {
        private static let start = Instant(nanoseconds: 1_000_000_000_000)
        private let loop = EmbeddedEventLoop()
        private var timer = DeadlineTimer()
        private var now = TimedLoop.start
        private let fired = Fired()

        private final class Fired: Sendable {
            let count = Atomic(0)
        }

        func follow(_ deadline: Double?) {
            timer.follow(deadline.map { Self.start + .seconds($0) }, now: now, on: loop) { [fired] in
                fired.count.add(1, ordering: .relaxed)
            }
        }

        /// Advances the time. Returns how often the timer fired.
        func run(to second: Double) -> Int {
            let before = fired.count.load(ordering: .relaxed)
            let step = Self.start + .seconds(second) - now
            now = now + step
            loop.advanceTime(by: .nanoseconds(step.wholeNanoseconds))
            return fired.count.load(ordering: .relaxed) - before
        }

        /// Simulates a suspend: the machine's clock advances, the loop's does not.
        func suspend(for seconds: Double) { now = now + .seconds(seconds) }

        func stop() { timer.stop() }
    }

    @Test("A timer fires once, at its deadline") func firesOnceAtTheDeadlineAndNotBefore() {
        let loop = TimedLoop()
        loop.follow(2)
        #expect(loop.run(to: 1.999_999_999) == 0)
        #expect(loop.run(to: 2) == 1)
        #expect(loop.run(to: 100) == 0)
    }

    @Test("An earlier deadline replaces a later one") func aSoonerDeadlineReplacesALaterOne() {
        let loop = TimedLoop()
        loop.follow(5)
        loop.follow(2)
        #expect(loop.run(to: 2) == 1)
        #expect(loop.run(to: 10) == 0)
    }

    @Test("A later deadline keeps the scheduled task, which fires early")
    func aLaterDeadlineLeavesTheTaskWhichLooksAgain() {
        let loop = TimedLoop()
        loop.follow(2)
        loop.follow(5)
        #expect(loop.run(to: 2) == 1, "the task of the earlier deadline did not fire")
        loop.follow(5)
        #expect(loop.run(to: 4.9) == 0)
        #expect(loop.run(to: 5) == 1)
    }

    @Test("A deadline that moves every second fires the timer at most once per second")
    func aDeadlineThatMovesWithEveryPacketCostsOneTask() {
        let loop = TimedLoop()
        for second in 0..<100 {
            loop.follow(Double(second) + 45)
            #expect(loop.run(to: Double(second) + 0.9) <= 1)
        }
    }

    @Test("A distant deadline is checked every ten seconds") func aFarDeadlineIsLookedAtEveryTenSeconds() {
        let loop = TimedLoop()
        loop.follow(35)
        for second in [10.0, 20, 30] {
            #expect(loop.run(to: second) == 1, "the task did not fire after ten seconds")
            loop.follow(35)
        }
        #expect(loop.run(to: 34.9) == 0)
        #expect(loop.run(to: 35) == 1)
    }

    @Test("Work that became due during a suspend is done within ten seconds after the resume")
    func whatFellDueWhileTheHostSleptIsDoneWithinTenSecondsOfItsWaking() {
        let loop = TimedLoop()
        loop.follow(45)
        #expect(loop.run(to: 3) == 0)
        loop.suspend(for: 1000)
        #expect(loop.run(to: 1003 + 7) == 1)
    }

    @Test("A deadline in the past fires immediately, each time it is set")
    func aDeadlineInThePastFiresAtOnceAndEachTimeItIsAskedFor() {
        let loop = TimedLoop()
        #expect(loop.run(to: 10) == 0)
        loop.follow(3)
        #expect(loop.run(to: 10) == 1)
        loop.follow(3)
        #expect(loop.run(to: 10) == 1)
    }

    @Test("A nil deadline or a call of stop() turns the timer off") func noDeadlineAndStopTurnItOff() {
        let loop = TimedLoop()
        loop.follow(2)
        loop.follow(nil)
        #expect(loop.run(to: 5) == 0)
        loop.follow(7)
        loop.stop()
        #expect(loop.run(to: 20) == 0)
        loop.follow(21)
        #expect(loop.run(to: 21) == 1)
    }
}
