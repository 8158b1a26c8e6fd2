import MatterWire
import ProtocolCore
import Testing

@testable import MatterSessions

@Suite struct MessagingCounterTests {
    @Test("A replay window accepts each counter once in any order, and rejects counters below the window")
    func windowEqualsModel() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<50 {
            var window = ReplayWindow(.ascending)
            var (received, highest) = (Set<UInt32>(), UInt32(0))
            var center = UInt32.random(in: 1...(1 << 28), using: &random)
            for _ in 0..<500 {
                if random.chance(0.05) { center += UInt32.random(in: 0...70, using: &random) }
                center += 1
                let counter = center - min(center - 1, UInt32.random(in: 0...40, using: &random))
                let expected: ReplayWindow.Verdict =
                    received.contains(counter) && highest - counter <= 32
                    ? .duplicate : received.isEmpty || counter > highest || highest - counter <= 32 ? .new : .unknown
                #expect(window.verdict(of: counter) == expected)
                if expected == .new {
                    window.record(counter)
                    received.insert(counter)
                    highest = max(highest, counter)
                }
            }
        }
    }

    @Test("A counter far below the window is new without encryption, because the peer has restarted")
    func restartOfUnencryptedPeer() {
        var window = ReplayWindow(.restarting)
        window.record(1_000_000)
        #expect(window.verdict(of: 999_968) == .new)
        #expect(window.verdict(of: 5) == .new)
        window.record(5)
        #expect(window.verdict(of: 5) == .duplicate)
        #expect(window.verdict(of: 6) == .new)
    }

    @Test("A window accepts the highest and the lowest counter") func windowAtTheEnds() {
        var window = ReplayWindow(.ascending)
        window.record(0)
        window.record(.max)
        #expect(window.verdict(of: .max) == .duplicate)
        #expect(window.verdict(of: .max - 32) == .new)
        #expect(window.verdict(of: .max - 33) == .unknown)
        #expect(window.verdict(of: 0) == .unknown)
    }

    @Test("A counter starts at random from 1 to 2^28, and ends or wraps after its last value")
    func counterValues() {
        var randomness = MatterRandomness(seed: Array(0..<32))
        let first = (0..<200).compactMap { _ in
            var counter = MessageCounter(&randomness)
            return counter.next()
        }
        #expect(first.count == 200 && Set(first).count > 190)
        #expect(first.allSatisfy { 1...(1 << 28) ~= $0 })
        var (ending, wrapping) = (MessageCounter(first: .max), MessageCounter(first: .max, wraps: true))
        #expect([ending.next(), ending.next()] == [.max, nil])
        #expect([wrapping.next(), wrapping.next()] == [.max, 0])
    }

    @Test("A session without free counters cannot encrypt") func exhaustedSession() {
        let keys = MessagingPair.sessions().initiator
        var session = SecureSession(
            keys, peer: MessagingPair.devicePeer, counter: MessageCounter(first: .max), now: .zero)
        #expect(session.seal([1], FakeCryptography(), now: .zero) != nil)
        #expect(session.seal([1], FakeCryptography(), now: .zero) == nil)
    }

    @Test("An encrypted message begins with the peer's session id and its counter")
    func encodedHeader() throws {
        let keys = MessagingPair.sessions().initiator
        var session = SecureSession(
            keys, peer: MessagingPair.devicePeer, counter: MessageCounter(first: 0x0403_0201), now: .zero)
        let sealed = session.seal([7, 8, 9], FakeCryptography(), now: .zero)
        let (datagram, counter) = try #require(sealed)
        #expect(counter == 0x0403_0201)
        #expect(Array(datagram.prefix(8)) == [0, 0x22, 0x22, 0, 1, 2, 3, 4])
        #expect(datagram.count == 8 + 3 + CryptographyLengths.tag)
        // The nonce has the flags, the counter, and the node id of the sender (Matter 4.8.1.1).
        let nonce: [UInt8] = [0, 1, 2, 3, 4, 10, 0, 0, 0, 0, 0, 0, 0]
        let plain = try FakeCryptography().open(
            Array(datagram.dropFirst(8)), key: keys.sendKey, nonce: nonce, authenticating: Array(datagram.prefix(8)))
        #expect(plain == [7, 8, 9])
    }
}
