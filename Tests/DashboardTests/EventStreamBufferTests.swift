import Metering
import NIOCore
import Testing

@testable import Dashboard

@Suite struct NewsRingTests {
    private func message(_ buffer: ByteBuffer) -> EventStreamBuffer.Message {
        EventStreamBuffer.Message(whole: buffer, others: buffer)
    }

    private func ring(_ count: Int, countLimit: Int = 100, byteLimit: Int = 10_000, length: Int = 10)
        -> EventStreamBuffer
    {
        var ring = EventStreamBuffer(countLimit: countLimit, byteLimit: byteLimit)
        for _ in 0..<count {
            ring.append { message(ByteBuffer(repeating: UInt8(truncatingIfNeeded: $0), count: length)) }
        }
        return ring
    }

    @Test("A reader continues at its position")
    func aReaderGoesOnWhereItWas() {
        let ring = ring(5)
        guard case .messages(let messages, through: 5) = ring.read(after: 2, atMost: 1000) else {
            return #expect(Bool(false), "no messages were returned")
        }
        #expect(messages.map { $0.getInteger(at: 0, as: UInt8.self) } == [3, 4, 5])
        #expect(ring.read(after: 5, atMost: 1000) == .nothing)
    }

    @Test("A batch is limited in bytes, but has at least one message")
    func aPortionHasSoManyBytesAndOneMessageAtLeast() {
        let ring = ring(10)
        guard case .messages(let some, through: 3) = ring.read(after: 0, atMost: 39) else {
            return #expect(Bool(false), "unexpected batch")
        }
        #expect(some.count == 3)
        guard case .messages(let one, through: 1) = ring.read(after: 0, atMost: 1) else {
            return #expect(Bool(false), "unexpected batch")
        }
        #expect(one.count == 1)
    }

    @Test("A reader whose position is no longer stored, or unknown, starts again")
    func whoFellBehindAndWhoComesFromElsewhereBeginsAnew() {
        let ring = ring(50, countLimit: 20)
        #expect(ring.count == 20 && ring.newest == 50)
        #expect(ring.read(after: 29, atMost: 1000) == .fallenBehind)
        #expect(ring.read(after: 51, atMost: 1000) == .fallenBehind)
        #expect(ring.read(after: .max, atMost: 1000) == .fallenBehind)
        if case .messages(let all, _) = ring.read(after: 30, atMost: 10_000) { #expect(all.count == 20) }
    }

    @Test("Messages for owners are skipped for other users, whose position advances")
    func othersSkipMessagesOfOwners() {
        var ring = EventStreamBuffer(countLimit: 100, byteLimit: 10_000)
        let (secret, short, open) = (ByteBuffer(string: "secret"), ByteBuffer(string: "s"), ByteBuffer(string: "open"))
        ring.append { _ in EventStreamBuffer.Message(whole: secret, others: nil) }
        ring.append { _ in EventStreamBuffer.Message(whole: secret, others: short) }
        ring.append { _ in EventStreamBuffer.Message(whole: open, others: open) }
        #expect(ring.read(after: 0, atMost: 1000) == .messages([secret, secret, open], through: 3))
        #expect(ring.read(after: 0, atMost: 1000, forOwner: false) == .messages([short, open], through: 3))
        ring.append { _ in EventStreamBuffer.Message(whole: secret, others: nil) }
        #expect(ring.read(after: 3, atMost: 1000, forOwner: false) == .messages([], through: 4))
        #expect(ring.bytes == 6 + 7 + 4 + 6)
    }

    @Test("Skipped messages have numbers and are not stored, nor are earlier ones")
    func skippedMessagesAreCounted() {
        var ring = ring(3)
        ring.skip(2)
        #expect(ring.newest == 5 && ring.count == 0 && ring.bytes == 0)
        #expect(ring.read(after: 4, atMost: 1000) == .fallenBehind)
        #expect(ring.read(after: 2, atMost: 1000) == .fallenBehind)
        #expect(ring.read(after: 5, atMost: 1000) == .nothing)
        ring.append { message(ByteBuffer(repeating: UInt8(truncatingIfNeeded: $0), count: 10)) }
        #expect(ring.read(after: 5, atMost: 1000) == .messages([ByteBuffer(repeating: 6, count: 10)], through: 6))
    }

    @Test("The number of stored bytes is limited")
    func bytesAreBoundedWhateverComes() {
        #expect(ring(500, byteLimit: 995).bytes == 990)
        // A message that exceeds the limit is kept until the next one.
        let long = ring(3, byteLimit: 100, length: 200)
        #expect(long.count == 1 && long.bytes == 200)
    }

    @Test("A stream position is parsed strictly")
    func aPlaceInTheStreamIsReadStrictly() {
        let position = StreamPosition(epoch: "0123456789abcdef", number: 42)
        #expect(StreamPosition("\(position)") == position)
        for text in [
            "", "42", "0123456789abcdef", "0123456789abcdef-", "0123456789ABCDEF-1", "0123456789abcdef-+1",
            "0123456789abcdef-99999999999999999999", "0123456789abcdef-1-2", "0123456789abcde-1",
        ] { #expect(StreamPosition(text) == nil, "\(text)") }
        #expect(StreamPosition.newEpoch().utf8.count == 16)
    }

    @Test("Recent readings are stored once per second, up to a limit")
    func recentReadingsAreOneASecondAndBounded() {
        var recent = RecentReadings()
        for tenth in 0..<20_000 { recent.add(Int32(tenth), at: 1_000_000_000 + Int64(tenth) * 100) }
        #expect(recent.count == RecentReadings.limit)
        let points = recent.points(from: 1_001_995_000, to: 1_002_000_000)
        #expect(points.map(\.value) == [1995.9, 1996.9, 1997.9, 1998.9, 1999.9])
        // A further reading in the newest second adds no entry.
        recent.add(1, at: 1_001_999_000)
        #expect(recent.count == RecentReadings.limit)
        // After the clock was set back, all readings from later times are discarded.
        recent.add(1, at: 1_000_000)
        #expect(recent.count == 1)
    }
}
