import ProtocolCore
import Testing

@testable import PlugTransport

@Suite struct TokenBucketTests {
    @Test("A full bucket gives its burst and then one token per interval")
    func aFullBucketGivesItsBurstAndThenOneEachInterval() {
        var bucket = TokenBucket(every: .milliseconds(100), burst: 3)
        var now = Instant.zero
        for _ in 0..<3 {
            #expect(bucket.hasToken(at: now))
            bucket.take(now: now)
        }
        #expect(!bucket.hasToken(at: now))
        now = now + .milliseconds(99)
        #expect(!bucket.hasToken(at: now))
        now = now + .milliseconds(1)
        #expect(bucket.hasToken(at: now))
        bucket.take(now: now)
        #expect(!bucket.hasToken(at: now))
        #expect(!bucket.isFull(at: now + .milliseconds(299)))
        #expect(bucket.isFull(at: now + .milliseconds(300)))
    }

    @Test("A bucket never holds more tokens than its burst") func itNeverHoldsMoreThanItsBurst() {
        var bucket = TokenBucket(every: .seconds(1), burst: 2)
        bucket.take(now: .zero)
        let later = Instant.zero + .seconds(1_000_000)
        var taken = 0
        while bucket.hasToken(at: later) {
            bucket.take(now: later)
            taken += 1
        }
        #expect(taken == 2)
    }
}
