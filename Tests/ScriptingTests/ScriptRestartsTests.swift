import ProtocolCore
import Testing

@testable import Scripting

@Suite("Restarts of scripts") struct ScriptRestartsTests {
    private var now = Instant(nanoseconds: 5_000_000_000)

    /// Returns the pause in seconds after each of `count` ends of a process. Each process runs for `living`.
    private mutating func rests(_ count: Int, living: Duration, _ restarts: inout ScriptRestarts) -> [Int64] {
        (0..<count).map { _ in
            now = max(now, restarts.nextDeadline ?? now)
            #expect(restarts.handle(.deadlineReached, now: now) == [.start])
            #expect(restarts.nextDeadline == nil)
            now = now + living
            guard case .rest(let rest) = restarts.handle(.ended, now: now).first else { return -1 }
            #expect(restarts.nextDeadline == now + rest)
            return rest.components.seconds
        }
    }

    @Test("The first start is immediate") func startsAtOnce() {
        var restarts = ScriptRestarts(now: now)
        #expect(restarts.nextDeadline == now)
        #expect(restarts.handle(.deadlineReached, now: now) == [.start])
    }

    @Test("The pause before a restart doubles with each restart, up to five minutes")
    mutating func restsTwiceAsLongEachTimeUpToFiveMinutes() {
        var restarts = ScriptRestarts(now: now)
        let rests = rests(11, living: .milliseconds(3), &restarts)
        #expect(rests == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
    }

    @Test("After ten minutes of running the pause begins at one second again")
    mutating func beginsAnewAfterTenMinutesOfPeace() {
        var restarts = ScriptRestarts(now: now)
        #expect(rests(4, living: .seconds(599), &restarts) == [1, 2, 4, 8])
        #expect(rests(2, living: .seconds(600), &restarts) == [1, 1])
        #expect(rests(2, living: .zero, &restarts) == [2, 4])
    }

    @Test("A process starts once, not before the end of its pause") mutating func startsNotBeforeItsTimeAndNotTwice() {
        var restarts = ScriptRestarts(now: now)
        _ = rests(1, living: .zero, &restarts)
        #expect(restarts.handle(.deadlineReached, now: now + .milliseconds(999)) == [])
        #expect(restarts.handle(.ended, now: now) == [])
        #expect(restarts.handle(.deadlineReached, now: now + .seconds(1)) == [.start])
        #expect(restarts.handle(.deadlineReached, now: now + .seconds(2)) == [])
    }

    @Test("A process that the pool discards does not lengthen the pause; starts are at least one second apart")
    mutating func oneThatIsDiscardedIsNoFaultButStartsOnceASecondAtMost() {
        var restarts = ScriptRestarts(now: now)
        #expect(restarts.handle(.discarded, now: now) == [])
        _ = restarts.handle(.deadlineReached, now: now)
        #expect(restarts.handle(.discarded, now: now + .milliseconds(300)) == [.rest(.milliseconds(700))])
        now = now + .seconds(1)
        #expect(restarts.handle(.deadlineReached, now: now) == [.start])
        #expect(restarts.handle(.discarded, now: now + .seconds(5)) == [.rest(.zero)])
        now = now + .seconds(5)
        #expect(rests(2, living: .zero, &restarts) == [1, 2])
    }
}
