import ProtocolCore
import SimulatedLAN
import Testing

@Suite struct StreamTests {
    private let content = (0..<5000).map { UInt8(truncatingIfNeeded: $0 / 7) }

    @Test("A stream delivers all bytes in order despite losses and a partition", arguments: 1...20)
    func bytesArriveInOrderAndWholeThroughAnyFault(seed: UInt64) throws {
        let pair = Pair(seed: seed, LinkFaults(loss: 0.3, delay: .milliseconds(1)...(.milliseconds(50))))
        pair.lan.schedule(pair.connect(), on: pair.left)
        for part in 0..<50 {
            let bytes = Array(content[part * 100..<part * 100 + 100])
            pair.lan.schedule(pair.write(bytes), on: pair.left, after: .seconds(150) + .milliseconds(7 * part))
        }
        pair.lan.schedule(.partition(pair.link, [[pair.left]]), after: .milliseconds(150_100))
        pair.lan.schedule(.heal(pair.link), after: .seconds(160))
        pair.lan.schedule(.act(.close(StreamID(1))), on: pair.left, after: .seconds(170))
        try pair.lan.run(for: .seconds(600))
        #expect(pair.lan[pair.right].bytes == content)
        #expect(pair.notes(pair.right) == [.accepted(port: 80), .closed(.finished)])
        #expect(pair.notes(pair.left) == [.connected])
    }

    @Test("Writes are split and merged at random")
    func whatIsWrittenAtOnceArrivesInPiecesAndTheOtherWayRound() throws {
        let pieces = try (1...20 as ClosedRange<UInt64>).map { seed in
            let pair = Pair(seed: seed)
            pair.lan.schedule(pair.connect(), on: pair.left)
            for part in 0..<2 {
                let bytes = Array(content[part * 2500..<part * 2500 + 2500])
                pair.lan.schedule(pair.write(bytes), on: pair.left, after: .seconds(1))
            }
            try pair.lan.run(for: .seconds(2))
            #expect(pair.lan[pair.right].bytes == content)
            return pair.lan[pair.right].pieces
        }
        #expect(pieces.min() == 1)
        #expect(pieces.max()! >= 4)
    }

    @Test("A port without a listener refuses, and an address without a host is unreachable")
    func aPortWithoutListenerRefusesAndAnAddressWithoutHostIsUnreachable() throws {
        let pair = Pair()
        pair.lan.schedule(pair.connect(1, port: 81), on: pair.left)
        let nobody = Endpoint(IPAddress(192, 0, 2, 99), 80)
        pair.lan.schedule(.act(.connect(StreamID(2), to: nobody)), on: pair.left, after: .seconds(1))
        try pair.lan.run(for: .seconds(10))
        #expect(pair.notes(pair.left) == [.closed(.refused), .closed(.unreachable)])
    }

    @Test("A connection to a host that is off times out")
    func connectingToAHostThatIsOffTimesOut() throws {
        let pair = Pair()
        pair.lan.schedule(.powerCut(pair.right))
        pair.lan.schedule(pair.connect(), on: pair.left)
        try pair.lan.run(for: .seconds(60))
        #expect(pair.notes(pair.left) == [])
        try pair.lan.run(for: .seconds(60))
        #expect(pair.notes(pair.left) == [.closed(.timedOut)])
    }

    @Test("A stream is half open after a power cut and is reset when the host is back")
    func aPowerCutLeavesTheStreamHalfOpenUntilTheHostIsBack() throws {
        let pair = Pair()
        pair.lan.schedule(pair.connect(), on: pair.left)
        pair.lan.schedule(.powerCut(pair.right), after: .seconds(1))
        pair.lan.schedule(pair.write([1]), on: pair.left, after: .seconds(2))
        try pair.lan.run(for: .seconds(60))
        #expect(pair.notes(pair.left) == [.connected])
        pair.lan.schedule(.powerOn(pair.right))
        try pair.lan.run(for: .seconds(60))
        #expect(pair.notes(pair.left) == [.connected, .closed(.reset)])
        #expect(pair.lan[pair.right].bytes == [])
    }

    @Test("An idle stream stays half open after a power cut")
    func aStreamThatNobodyUsesStaysHalfOpen() throws {
        let pair = Pair()
        pair.lan.schedule(pair.connect(), on: pair.left)
        pair.lan.schedule(.powerCut(pair.right), after: .seconds(1))
        pair.lan.schedule(.powerOn(pair.right), after: .seconds(2))
        try pair.lan.run(for: .seconds(3600))
        #expect(pair.notes(pair.left) == [.connected])
    }

    @Test("The kernel of a killed process resets its streams immediately and refuses new ones")
    func aKilledProcessIsNoticedAtOnce() throws {
        let pair = Pair()
        pair.lan.schedule(pair.connect(1), on: pair.left)
        pair.lan.schedule(.kill(pair.right), after: .seconds(1))
        pair.lan.schedule(pair.connect(2), on: pair.left, after: .seconds(2))
        pair.lan.schedule(.start(pair.right), after: .seconds(3))
        pair.lan.schedule(pair.connect(3), on: pair.left, after: .seconds(4))
        try pair.lan.run(for: .seconds(5))
        #expect(pair.notes(pair.left) == [.connected, .closed(.reset), .closed(.refused), .connected])
    }

    @Test("A stream whose data is not acknowledged times out after about fifteen minutes")
    func anUnansweredStreamIsGivenUp() throws {
        let pair = Pair()
        pair.lan.schedule(pair.connect(), on: pair.left)
        pair.lan.schedule(.linkDown(pair.link), after: .seconds(1))
        pair.lan.schedule(pair.write([1]), on: pair.left, after: .seconds(2))
        try pair.lan.run(for: .seconds(900))
        #expect(!pair.notes(pair.left).contains(.closed(.timedOut)))
        try pair.lan.run(for: .seconds(120))
        #expect(pair.notes(pair.left).contains(.closed(.timedOut)))
    }

    @Test("A stopped reader fills the writer's buffer until it reads again")
    func aReaderThatStopsFillsTheWritersBuffer() throws {
        let pair = Pair()
        pair.lan.schedule(pair.connect(), on: pair.left)
        try pair.lan.run(for: .seconds(1))
        let accepted = try #require(pair.lan[pair.right].lastAccepted)
        pair.lan.schedule(.act(.setReading(accepted, false)), on: pair.right)
        for _ in 0..<70 { pair.lan.schedule(pair.write([UInt8](repeating: 1, count: 1000)), on: pair.left) }
        try pair.lan.run(for: .seconds(10))
        #expect(pair.notes(pair.left) == [.connected, .writable(false)])
        #expect(pair.lan[pair.right].bytes.count == 0)
        pair.lan.schedule(.act(.setReading(accepted, true)), on: pair.right)
        try pair.lan.run(for: .seconds(10))
        #expect(pair.notes(pair.left) == [.connected, .writable(false), .writable(true)])
        #expect(pair.lan[pair.right].bytes.count == 70_000)
    }
}
