import ProtocolCore
import Testing

@Suite struct TokenBucketTests {
    @Test("A full bucket gives its burst and then one token per interval")
    func aFullBucketGivesItsBurstAndThenOneEachInterval() {
        var bucket = TokenBucket(burst: 3, interval: .milliseconds(100))
        var now = Instant.zero
        for _ in 0..<3 {
            let isTaken = bucket.take(now: now)
            #expect(isTaken)
        }
        #expect(bucket.available() == now + .milliseconds(100))
        now = now + .milliseconds(99)
        let isEarly = bucket.take(now: now)
        #expect(!isEarly)
        now = now + .milliseconds(1)
        let isTaken = bucket.take(now: now)
        #expect(isTaken)
        #expect(!bucket.isFull(at: now + .milliseconds(299)))
        #expect(bucket.isFull(at: now + .milliseconds(300)))
    }

    @Test("Tokens that are spent in advance delay the next ones")
    func debts() {
        var bucket = TokenBucket(atOnce: 2, perHour: 62)
        bucket.spend(3, now: .zero)
        #expect(bucket.available() == .zero + .seconds(120))
        #expect(bucket.available(2) == .zero + .seconds(180))
    }

    @Test("A bucket never holds more tokens than its burst") func itNeverHoldsMoreThanItsBurst() {
        var bucket = TokenBucket(burst: 2, interval: .seconds(1))
        bucket.spend(now: .zero)
        let later = Instant.zero + .seconds(1_000_000)
        var taken = 0
        while bucket.take(now: later) { taken += 1 }
        #expect(taken == 2)
    }
}
