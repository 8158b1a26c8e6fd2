import ProtocolCore
import Testing

@testable import Daemon

struct SleepDigestTests {
    private func at(_ second: Int) -> Instant { .zero + .seconds(second) }

    @Test("Only events during the sleep are counted, and each plug once")
    func countsTheSleep() {
        let digest = SleepDigest()
        for (plug, second) in [("Lamp", 5), ("Lamp", 10), ("Fan", 15), ("Lamp", 19), ("Fan", 20)] {
            digest.note(plug, at: at(second))
        }
        #expect(digest.words(from: at(10), to: at(20)) == "3 events of 2 plugs happened meanwhile")
        #expect(digest.words(from: at(5), to: at(6)) == "1 event of 1 plug happened meanwhile")
        #expect(digest.words(from: at(30), to: at(40)) == "no events happened meanwhile")
    }

    @Test("The number of remembered events is limited, and the oldest ones are removed")
    func isLimited() {
        let digest = SleepDigest()
        for second in 0..<2000 { digest.note("Lamp", at: at(second)) }
        let words = digest.words(from: at(0), to: at(2000))
        let count = words.split(separator: " ").first.flatMap { Int($0) } ?? 0
        #expect((SleepDigest.limit / 2...SleepDigest.limit).contains(count))
        #expect(digest.words(from: at(1999), to: at(2000)) == "1 event of 1 plug happened meanwhile")
    }
}
