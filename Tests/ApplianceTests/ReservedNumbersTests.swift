import PlugModel
import ProtocolCore
import Testing

@testable import Appliance

/// Tests of the reservation of event numbers. A boundary is in flash, and all numbers below it are reserved.
@Suite struct ReservedNumbersTests {
    private var random = SeededRandom(seed: 3)

    @Test("When the next number reaches the boundary, the plug skips to a much greater number")
    mutating func noNumberAtTheBoundaryIsUsed() {
        var numbers = ReservedNumbers(below: 101, next: 1, size: 100)
        #expect(numbers.leap(from: 100, using: &random) == nil)
        let target = numbers.leap(from: 101, using: &random)
        #expect(target.map { ReservedNumbers.leapRange.contains($0 - 101) } == true)
        #expect(numbers.leap(from: (target ?? 0) + 1000, using: &random) == nil, "a second skip was made")
    }

    @Test("The next boundary is requested once, when half of the reserved numbers are used")
    func theNextBoundaryIsAskedForOnceAtHalf() {
        var numbers = ReservedNumbers(below: 101, next: 1, size: 100)
        #expect(numbers.request(next: 50, now: .zero) == nil)
        #expect(numbers.request(next: 51, now: .zero) == 151)
        #expect(numbers.request(next: 99, now: .zero) == nil, "a boundary was requested twice")
        numbers.confirm(151, next: 99)
        let later = Instant.zero + ReservedNumbers.chatter
        #expect(numbers.request(next: 100, now: later) == nil)
        #expect(numbers.request(next: 101, now: later) == 201)
    }

    @Test("Reservations in quick succession grow") func aPlugThatChattersReservesMoreAndMore() {
        var numbers = ReservedNumbers(below: 101, next: 1, size: 100)
        var now = Instant.zero
        var next: SequenceNumber = 51
        var sizes: [SequenceNumber] = []
        var boundary: SequenceNumber = 0
        for _ in 0..<16 {
            boundary = numbers.request(next: next, now: now) ?? 0
            sizes.append(boundary - next)
            numbers.confirm(boundary, next: next)
            next = boundary - (boundary - next) / 2
            now = now + .seconds(60)
        }
        #expect(sizes == (0..<16).map { min(100 << $0, 1 << 20) })
        now = now + ReservedNumbers.chatter
        #expect(numbers.request(next: next, now: now) == nil, "a smaller boundary than the one in flash was requested")
        #expect(numbers.request(next: boundary - 51, now: now) == nil)
        #expect(
            numbers.request(next: boundary - 50, now: now) == boundary + 50,
            "after a quiet time, the request must have the usual size")
    }

    @Test("Failed writes are retried at growing intervals") func failuresAreRetriedAtGrowingDistances() {
        var numbers = ReservedNumbers(below: 10, next: 10, size: 100)
        var now = Instant.zero
        var waits: [Double] = []
        for _ in 0..<11 {
            #expect(numbers.request(next: 10, now: now) == 110)
            numbers.fail(now: now)
            let retry = numbers.nextDeadline(isAwaited: false) ?? now
            #expect(numbers.request(next: 10, now: retry - .nanoseconds(1)) == nil)
            waits.append((retry - now).inSeconds)
            now = retry
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
        #expect(numbers.request(next: 10, now: now) == 110)
        numbers.confirm(110, next: 10)
        #expect(numbers.nextDeadline(isAwaited: true) == nil)
    }

    @Test("After a skip, a confirmed boundary below the next number reserves nothing")
    mutating func aBoundaryThatALeapOvertookCoversNothing() throws {
        var numbers = ReservedNumbers(below: 10, next: 10, size: 100)
        #expect(numbers.request(next: 10, now: .zero) == 110)
        let target = try #require(numbers.leap(from: 10, using: &random))
        numbers.confirm(110, next: target)
        #expect(numbers.leap(from: target + 1, using: &random) == nil)
        #expect(
            numbers.request(next: target + 1, now: .zero) == target + 201,
            "a request soon after the previous one must be twice as large")
        numbers.confirm(target + 201, next: target + 1)
        #expect(numbers.leap(from: target + 200, using: &random) == nil)
        #expect(
            numbers.leap(from: target + 201, using: &random) != nil,
            "the numbers from the new boundary on must not be reserved")
    }

    @Test("Events wait for a write in progress up to its timeout")
    func eventsWaitForAWriteThatIsUnderWayAsLongAsItMayTake() {
        var numbers = ReservedNumbers(below: 101, next: 1, size: 100)
        let end = Instant.zero + ReservedNumbers.patience
        #expect(!numbers.mustWait(100, now: .zero))
        #expect(
            numbers.mustWait(101, now: .zero), "the event must wait for the boundary, which will be requested at once")
        #expect(numbers.request(next: 101, now: .zero) == 201)
        #expect(numbers.mustWait(101, now: end - .nanoseconds(1)))
        #expect(!numbers.mustWait(101, now: end))
        #expect(numbers.nextDeadline(isAwaited: true) == end)
        #expect(numbers.nextDeadline(isAwaited: false) == nil)
        numbers.confirm(201, next: 101)
        #expect(!numbers.mustWait(200, now: end))
        #expect(numbers.mustWait(201, now: end))
    }

    @Test("Events do not wait after a failed write, but wait during the next attempt")
    func nobodyWaitsForAWriteThatFailedButForTheNextTry() {
        var numbers = ReservedNumbers(below: 101, next: 1, size: 100)
        #expect(numbers.request(next: 101, now: .zero) == 201)
        numbers.fail(now: .zero)
        #expect(!numbers.mustWait(101, now: .zero))
        let retry = Instant.zero + ReservedNumbers.firstRetry
        #expect(numbers.request(next: 101, now: retry) == 201)
        #expect(numbers.mustWait(101, now: retry))
    }

    /// Flash may already contain a boundary whose write is in progress. After a loss of power, the plug would start at
    /// this boundary and repeat the numbers at or above it.
    @Test("After a skip, no number at or above a boundary that is being written is used")
    mutating func afterALeapNoNumberBeyondABoundaryThatIsUnderWayIsUsed() throws {
        var numbers = ReservedNumbers(below: 10, next: 10, size: 100)
        #expect(numbers.request(next: 10, now: .zero) == 110)
        numbers.fail(now: .zero)
        let target = try #require(numbers.leap(from: 10, using: &random))
        #expect(!numbers.mustWait(target + 100, now: .zero), "no boundary is in progress, so the event must not wait")
        let retry = Instant.zero + ReservedNumbers.firstRetry
        #expect(numbers.request(next: target, now: retry) == target + 100)
        #expect(!numbers.mustWait(target + 99, now: retry))
        #expect(numbers.mustWait(target + 100, now: retry))
        var late = numbers
        #expect(late.leap(from: target + 100, using: &random) != nil)
        numbers.confirm(target + 100, next: target + 100)
        #expect(
            numbers.request(next: target + 101, now: retry) == target + 301,
            "a request soon after the previous one must be twice as large")
        #expect(numbers.mustWait(target + 100, now: retry))
    }

    @Test("Events do not wait if the boundary in flash is unknown")
    func nobodyWaitsWhereNumbersAreNotKnown() {
        var numbers = ReservedNumbers(below: 0, next: 1, size: 100)
        #expect(numbers.request(next: 1, now: .zero) == 101)
        #expect(!numbers.mustWait(1, now: .zero))
    }

    @Test("An orderly stop writes the exact next number once") func anOrderlyStopWritesTheExactNumberOnce() {
        #expect(ReservedNumbers(below: 101, next: 7).finalRequest(next: 7) == 7)
        #expect(ReservedNumbers(below: 7, next: 7).finalRequest(next: 7) == nil)
        #expect(ReservedNumbers(below: 7, next: 9000).finalRequest(next: 9000) == 9000)
    }

    @Test("Numbers after 30 skips stay below 2^53") mutating func wholeNumbersStayExactInEveryJSONReader() {
        var next: SequenceNumber = 1
        for _ in 0..<30 {
            var numbers = ReservedNumbers(below: 0, next: next)
            next = numbers.leap(from: next, using: &random) ?? .max
        }
        #expect(next < 1 << 53)
    }
}
