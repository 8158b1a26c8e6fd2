import PlugProtocol
import ProtocolCore
import Testing

@testable import Appliance

@Suite struct ReservedNumbersTests {
    /// The numbers asked for one after the other, each with its answer.
    private func requests(_ numbers: inout ReservedNumbers, at next: [SequenceNumber]) -> [SequenceNumber?] {
        next.map { numbers.request(next: $0, now: .zero) }
    }

    @Test func noNumberAtTheBoundaryIsUsed() throws {
        var random = SeededRandom(seed: 3)
        var numbers = ReservedNumbers(below: 101, next: 1, size: 100)
        let before = numbers.leap(from: 100, using: &random)
        #expect(before == nil)
        let target = try #require(numbers.leap(from: 101, using: &random))
        #expect(ReservedNumbers.leapRange.contains(target - 101))
        let after = numbers.leap(from: target + 1000, using: &random)
        #expect(after == nil, "one leap is enough")
    }

    @Test func theNextBoundaryIsAskedForOnceAtHalf() {
        var numbers = ReservedNumbers(below: 101, next: 1, size: 100)
        let first = requests(&numbers, at: [50, 51, 99])
        #expect(first == [nil, 151, nil], "the answer is awaited")
        numbers.confirm(151, next: 99)
        let second = requests(&numbers, at: [100, 101])
        #expect(second == [nil, 201])
    }

    @Test func failuresAreRetriedAtGrowingDistances() {
        var numbers = ReservedNumbers(below: 10, next: 10, size: 100)
        var now = Instant.zero
        var waits: [Double] = []
        for _ in 0..<11 {
            let asked = numbers.request(next: 10, now: now)
            numbers.fail(now: now)
            let retry = numbers.nextDeadline ?? now
            let tooSoon = numbers.request(next: 10, now: retry - .nanoseconds(1))
            #expect(asked == 110 && tooSoon == nil)
            waits.append((retry - now).inSeconds)
            now = retry
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
        _ = numbers.request(next: 10, now: now)
        numbers.confirm(110, next: 10)
        #expect(numbers.nextDeadline == nil)
    }

    @Test func aBoundaryThatALeapOvertookCoversNothing() throws {
        var random = SeededRandom(seed: 3)
        var numbers = ReservedNumbers(below: 10, next: 10, size: 100)
        _ = numbers.request(next: 10, now: .zero)
        let target = try #require(numbers.leap(from: 10, using: &random))
        numbers.confirm(110, next: target)
        let unneeded = numbers.leap(from: target + 1, using: &random)
        let asked = numbers.request(next: target + 1, now: .zero)
        #expect(unneeded == nil && asked == target + 101)
        numbers.confirm(target + 101, next: target + 1)
        let needed = numbers.leap(from: target + 101, using: &random)
        #expect(needed != nil, "reserved again, so the boundary holds again")
    }

    @Test func anOrderlyStopWritesTheExactNumberOnce() {
        #expect(ReservedNumbers(below: 101, next: 7).finalRequest(next: 7) == 7)
        #expect(ReservedNumbers(below: 7, next: 7).finalRequest(next: 7) == nil)
        #expect(ReservedNumbers(below: 7, next: 9000).finalRequest(next: 9000) == 9000)
    }

    @Test func wholeNumbersStayExactInEveryJSONReader() {
        var random = SeededRandom(seed: 3)
        var next: SequenceNumber = 1
        for _ in 0..<30 {
            var numbers = ReservedNumbers(below: 0, next: next)
            next = numbers.leap(from: next, using: &random) ?? .max
        }
        #expect(next < 1 << 53)
    }
}
